# Goes before the program that makes a sandbox. Mounts an overlay over the workspace, in a mount namespace of its own, and
# becomes that program. Whoever is not root makes a user namespace for that first, and gives up its privileges afterwards.
#
# Arguments: Node's name of the architecture; the workspace; its device:inode, or ""; the upper and the work directory;
# further mount options, or ""; the program with its arguments. Among those, the word "haft:overlay-identity" becomes
# device:inode of the mounted overlay. Exits with 75 where the kernel has the upper directory in use and the options
# include index=on.
use strict;
use warnings;
my ($architecture, $root, $identity, $upper, $work, $options, @command) = @ARGV;
my %number = $architecture eq "arm64"
  ? (unshare => 97, mount => 40, prctl => 167, capset => 91)
  : (unshare => 272, mount => 165, prctl => 157, capset => 126);
my ($PRIVATE, $REC, $NOSUID, $NODEV) = (1 << 18, 16384, 2, 4);
my ($NEW_MOUNTS, $NEW_USERS) = (0x20000, 0x10000000);
sub fail { my $code = $! == 16 ? 75 : 125; print STDERR "overlay: $_[0]: $!\n"; exit $code }
sub mount { my ($from, $to, $type, $flags, $data) = @_; syscall($number{mount}, "$from\0", "$to\0", "$type\0", $flags + 0, "$data\0") == 0 or fail("mount $to") }
sub set { my ($path, $text) = @_; open(my $file, ">", $path) or return; print $file $text; close $file or fail($path) }
sub directory { my ($path) = @_; opendir(my $handle, $path) or fail($path); $handle }

my ($user, $group) = ($> + 0, (split / /, $))[0] + 0);
my $is_own = 0;
if ($user != 0 || syscall($number{unshare}, $NEW_MOUNTS) != 0) {
  syscall($number{unshare}, $NEW_USERS | $NEW_MOUNTS) == 0 or fail("user namespace");
  set("/proc/self/setgroups", "deny");
  set("/proc/self/uid_map", "$user $user 1");
  set("/proc/self/gid_map", "$group $group 1");
  $is_own = 1;
}
mount("none", "/", "", $PRIVATE | $REC, "");

# By descriptors: a path can lead elsewhere by the time it is used, and options have no way to write a comma.
my ($lower, @own) = (directory($root), directory($upper), directory($work));
my ($device, $inode) = stat $lower;
$identity eq "" or "$device:$inode" eq $identity or do { print STDERR "the workspace was replaced meanwhile\n"; exit 125 };
my ($below, $above, $beside) = map { "/proc/self/fd/" . fileno $_ } $lower, @own;
mount("overlay", $below, "overlay", $NOSUID | $NODEV, "lowerdir=$below,upperdir=$above,workdir=$beside,userxattr$options");

# The sandbox takes the workspace by its path, so that has to be the overlay: the last line of the table is its mount.
open(my $table, "<", "/proc/self/mountinfo") or fail("mountinfo");
my $last = "";
$last = $_ for <$table>;
my ($major, $minor) = $last =~ /^\d+ \d+ (\d+):(\d+) .* - overlay / or fail("mountinfo");
my $mounted = ($minor & 0xff) | ($major << 8) | (($minor & ~0xff) << 12);
my ($now, $number) = stat $root;
defined $now && $now == $mounted or do { print STDERR "the workspace was replaced meanwhile\n"; exit 125 };
for (@command) { $_ = "$now:$number" if $_ eq "haft:overlay-identity" }

if ($is_own) {
  syscall($number{prctl}, 47, 4, 0, 0, 0);
  my ($header, $data) = (pack("LL", 0x20080522, 0), pack("L6", (0) x 6));
  syscall($number{capset}, $header, $data) == 0 or fail("capabilities");
}
exec { $command[0] } @command or fail("exec");
