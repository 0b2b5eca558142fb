# Becomes the parent of descendants that lose theirs, so that a daemon is found also when it has a session of its own and
# has cleared its environment. No shell can ask the kernel for that. Arguments: the number of prctl, then the program.
use strict;
use warnings;
my $prctl = shift @ARGV;
my $PR_SET_CHILD_SUBREAPER = 36;
syscall($prctl + 0, $PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
exec { $ARGV[0] } @ARGV or exit 127;
