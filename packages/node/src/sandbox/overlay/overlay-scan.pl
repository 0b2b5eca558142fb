# Lists what an overlay's upper directory holds, directories before what is in them: for each entry a line of its kind
# (file, directory, symlink, whiteout, special, unreadable), permission bits in octal, number of names, "opaque" or "-",
# "attributes" or "-" (extended attributes of the command's own), and the path, which ends with a NUL.
#
# Arguments: Node's name of the architecture; "strip" to remove the overlay's own attributes from files, or "keep"; the
# directory.
use strict;
use warnings;
my ($architecture, $mode, $top) = @ARGV;
my %number = $architecture eq "arm64"
  ? (lgetxattr => 9, llistxattr => 12, lremovexattr => 15)
  : (lgetxattr => 192, llistxattr => 195, lremovexattr => 198);
binmode STDOUT;

sub attributes {
  my ($path) = @_;
  my $names = "\0" x 65536;
  my $length = syscall($number{llistxattr}, "$path\0", $names, 65536);
  return $length > 0 ? split /\0/, substr($names, 0, $length) : ();
}

my @pending = ("");
while (defined(my $path = pop @pending)) {
  my $full = $path eq "" ? $top : "$top/$path";
  my ($bits, $links, $device) = (lstat $full)[2, 3, 6];
  if (!defined $bits) { print "unreadable 0 0 - - $path\0"; next }
  my $type = $bits & 0170000;
  my $kind = $type == 0040000 ? "directory" : $type == 0100000 ? "file" : $type == 0120000 ? "symlink"
    : $type == 0020000 && $device == 0 ? "whiteout" : "special";
  my ($opaque, $own) = ("-", "-");
  if ($kind eq "directory" || $kind eq "file") {
    for my $name (attributes($full)) {
      if ($name !~ /^user\.overlay\./) { $own = "attributes"; next }
      if ($name eq "user.overlay.opaque") {
        my $value = "\0" x 8;
        my $length = syscall($number{lgetxattr}, "$full\0", "$name\0", $value, 8);
        $opaque = "opaque" if $length > 0 && substr($value, 0, 1) eq "y";
      }
      syscall($number{lremovexattr}, "$full\0", "$name\0") if $mode eq "strip" && $kind eq "file";
    }
  }
  my @inside;
  if ($kind eq "directory") {
    # Whoever may list a directory is up to its owner, who is the one that runs this.
    chmod(($bits & 07777) | 0700, $full) if ($bits & 0700) != 0700;
    if (opendir(my $handle, $full)) { @inside = grep { $_ ne "." && $_ ne ".." } readdir $handle }
    else { $kind = "unreadable" }
    chmod($bits & 07777, $full) if ($bits & 0700) != 0700 && $mode eq "keep";
  }
  printf "%s %o %d %s %s %s\0", $kind, $bits & 07777, $links, $opaque, $own, $path;
  push @pending, map { $path eq "" ? $_ : "$path/$_" } @inside;
}
