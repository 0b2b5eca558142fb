# Lists what upper directories of overlays hold, one after the other, until its input ends. A request is three words, each
# with a NUL behind it: "strip" to remove the overlay's own attributes from files, or "keep"; the upper directory; the
# lower one. The answer has directories before what is in them: for each entry a line of its kind (file, directory,
# symlink, whiteout, special, unreadable), permission bits in octal, number of names, "opaque" or "-", remarks with a comma
# between them or "-", and the path, which ends with a NUL. One more NUL ends the answer. Remarks: "attributes" where
# extended attributes differ from those below, "linked" for a file that has several names there.
#
# Argument: Node's name of the architecture.
use strict;
use warnings;
my ($architecture) = @ARGV;
my %number = $architecture eq "arm64"
  ? (lgetxattr => 9, llistxattr => 12, lremovexattr => 15)
  : (lgetxattr => 192, llistxattr => 195, lremovexattr => 198);
binmode $_ for *STDIN, *STDOUT;
# Ctrl-C is for the host, which still has to commit what a command changed.
$SIG{$_} = "IGNORE" for qw(HUP INT TERM);

sub names {
  my ($path) = @_;
  my $names = "\0" x 65536;
  my $length = syscall($number{llistxattr}, "$path\0", $names, 65536);
  return $length > 0 ? split /\0/, substr($names, 0, $length) : ();
}

sub value {
  my ($path, $name) = @_;
  my $value = "\0" x 65536;
  my $length = syscall($number{lgetxattr}, "$path\0", "$name\0", $value, 65536);
  return $length > 0 ? substr($value, 0, $length) : "";
}

# Labels of the system are not the command's.
sub is_own { my ($name) = @_; return $name !~ /^user\.overlay\.|^security\./ }
sub attributes { my ($path) = @_; return join "\0", map { ($_, value($path, $_)) } sort grep { is_own($_) } names($path) }

sub scan {
  my ($mode, $top, $lower) = @_;
  my @pending = ("");
  while (defined(my $path = pop @pending)) {
    my $full = $path eq "" ? $top : "$top/$path";
    my ($bits, $links, $device) = (lstat $full)[2, 3, 6];
    if (!defined $bits) { print "unreadable 0 0 - - $path\0"; next }
    my $type = $bits & 0170000;
    my $kind = $type == 0040000 ? "directory" : $type == 0100000 ? "file" : $type == 0120000 ? "symlink"
      : $type == 0020000 && $device == 0 ? "whiteout" : "special";
    my ($opaque, $remark) = ("-", "-");
    if ($kind eq "directory" || $kind eq "file") {
      for my $name (grep { /^user\.overlay\./ } names($full)) {
        $opaque = "opaque" if $name eq "user.overlay.opaque" && substr(value($full, $name), 0, 1) eq "y";
        syscall($number{lremovexattr}, "$full\0", "$name\0") if $mode eq "strip" && $kind eq "file";
      }
      my ($before, $names) = (lstat "$lower/$path")[2, 3];
      my $is_same_kind = defined $before && ($before & 0170000) == $type;
      my @remarks;
      push @remarks, "attributes" if attributes($full) ne ($is_same_kind ? attributes("$lower/$path") : "");
      push @remarks, "linked" if $kind eq "file" && $is_same_kind && $names > 1;
      $remark = join ",", @remarks if @remarks;
    }
    my @inside;
    if ($kind eq "directory") {
      # Whoever may list a directory is up to its owner, who is the one that runs this.
      chmod(($bits & 07777) | 0700, $full) if ($bits & 0700) != 0700;
      if (opendir(my $handle, $full)) { @inside = grep { $_ ne "." && $_ ne ".." } readdir $handle }
      else { $kind = "unreadable" }
      chmod($bits & 07777, $full) if ($bits & 0700) != 0700 && $mode eq "keep";
    }
    printf "%s %o %d %s %s %s\0", $kind, $bits & 07777, $links, $opaque, $remark, $path;
    push @pending, map { $path eq "" ? $_ : "$path/$_" } @inside;
  }
}

local $/ = "\0";
while (defined(my $mode = <STDIN>)) {
  my ($top, $lower) = map { scalar <STDIN> } 1, 2;
  last if !defined $lower;
  chomp($mode, $top, $lower);
  scan($mode, $top, $lower);
  print "\0";
  # Setting it writes out what is waiting.
  $| = 1;
  $| = 0;
}
