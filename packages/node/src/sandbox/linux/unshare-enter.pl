# The way into a sandbox of bare namespaces. Reads steps of three NUL-terminated words from descriptor 3 and a filter for
# system calls from descriptor 4, lays out a new root, gives up every privilege, and becomes the shell that runs the second
# argument as code with the others as its arguments. The first argument is Node's name of the architecture.
use strict;
use warnings;
my ($architecture, $starter, @command) = @ARGV;
my %number = $architecture eq "arm64"
  ? (mount => 40, umount => 39, pivot => 41, prctl => 167, capset => 91, hostname => 161)
  : (mount => 165, umount => 166, pivot => 155, prctl => 157, capset => 126, hostname => 170);
my ($BIND, $REC, $PRIVATE, $REMOUNT) = (4096, 16384, 1 << 18, 32);
my ($RO, $NOSUID, $NODEV, $NOEXEC) = (1, 2, 4, 8);
sub fail { print STDERR "unshare: $_[0]: $!\n"; exit 1 }
sub call { my ($what, @args) = @_; my @own = @args; my $got = syscall($own[0], @own[1..$#own]); fail($what) if $got < 0; $got }
sub mount { my ($from, $to, $type, $flags, $data) = @_; call("mount $to", $number{mount}, "$from\0", "$to\0", "$type\0", $flags + 0, "$data\0") }
sub slurp { my ($fd) = @_; open(my $in, "<&=", $fd) or fail("descriptor $fd"); binmode $in; local $/; my $all = <$in>; defined $all ? $all : "" }
sub ancestors { my ($path) = @_; my $at = ""; my @parts = split m{/}, $path; pop @parts; for (@parts) { next if $_ eq ""; $at .= "/$_"; mkdir "/new$at", 0755 } }
sub place { my ($from, $to) = @_; ancestors($to); if (-d $from) { mkdir "/new$to", 0755 } elsif (!-e "/new$to") { open(my $new, ">", "/new$to") or fail("make $to"); close $new } }
sub unescape { my ($text) = @_; $text =~ s/\\([0-7]{3})/chr oct $1/ge; $text }
my %flag = (ro => $RO, nosuid => $NOSUID, nodev => $NODEV, noexec => $NOEXEC, noatime => 1024, nodiratime => 2048, relatime => 1 << 21);
sub close_mounts {
  my ($to, $wanted) = @_;
  open(my $info, "<", "/proc-now/self/mountinfo") or fail("mountinfo");
  my %seen;
  for (<$info>) {
    my @field = split / /; my $at = unescape($field[4]);
    next unless $at eq "/new$to" || index($at, "/new$to/") == 0;
    my $flags = 0; $flags |= $flag{$_} // 0 for split /,/, $field[5];
    $seen{$at} = $flags;
  }
  mount("none", $_, "", $BIND | $REMOUNT | $seen{$_} | $wanted, "") for sort keys %seen;
}

sub bring { my ($from, $to, $wanted) = @_; place("/old$from", $to); mount("/old$from", "/new$to", "", $BIND | $REC, ""); close_mounts($to, $wanted) }

my $name = "haft";
call("host name", $number{hostname}, $name, length $name);
my @steps = split /\0/, slurp(3), -1;
my $filter = slurp(4);
mount("none", "/", "", $REC | $PRIVATE, "");
mount("tmpfs", "/tmp", "tmpfs", $NOSUID | $NODEV, "mode=755,size=1m");
chdir "/tmp" or fail("chdir");
mkdir $_, 0755 for "new", "old", "proc-now";
mount("new", "/tmp/new", "tmpfs", $NOSUID | $NODEV, "mode=755,size=4m");
my ($here, $there) = (".\0", "old\0");
call("pivot_root", $number{pivot}, $here, $there);
chdir "/" or fail("chdir");
mount("proc", "/proc-now", "proc", $NOSUID | $NODEV | $NOEXEC, "");
my $up = pack("a16 s x22", "lo", 0x49);
my $socket;
socket($socket, 2, 2, 0) and ioctl($socket, 0x8914, $up);
undef $socket;
%ENV = ();
while (my ($kind, $first, $second) = splice @steps, 0, 3) {
  last unless defined $second;
  if ($kind eq "readable") { bring($first, $second, $RO | $NOSUID | $NODEV) }
  elsif ($kind eq "writable") { bring($first, $second, $NOSUID | $NODEV) }
  elsif ($kind eq "link") { symlink $first, "/new$second" or fail("link $second") }
  elsif ($kind eq "proc") { mkdir "/new$second"; mount("proc", "/new$second", "proc", $NOSUID | $NODEV | $NOEXEC, "") }
  elsif ($kind eq "empty" || $kind eq "temporary") {
    ancestors($second); mkdir "/new$second", 0755;
    mount("tmpfs", "/new$second", "tmpfs", $NOSUID | $NODEV | ($kind eq "empty" ? $RO : 0), $kind eq "empty" ? "mode=755" : "mode=1777,size=$first");
  }
  elsif ($kind eq "devices") {
    mkdir "/new/dev", 0755;
    mount("tmpfs", "/new/dev", "tmpfs", $NOSUID, "mode=755,size=64k");
    for (qw(null zero full random urandom tty)) { place("/old/dev/$_", "/dev/$_"); mount("/old/dev/$_", "/new/dev/$_", "", $BIND, "") }
    mkdir "/new/dev/$_", 0755 for "pts", "shm";
    mount("devpts", "/new/dev/pts", "devpts", $NOSUID | $NOEXEC, "newinstance,ptmxmode=0666,mode=620");
    mount("tmpfs", "/new/dev/shm", "tmpfs", $NOSUID | $NODEV, "mode=1777,size=$first");
    symlink "pts/ptmx", "/new/dev/ptmx"; symlink "/proc/self/fd", "/new/dev/fd";
    symlink "/proc/self/fd/$_->[0]", "/new/dev/$_->[1]" for [0, "stdin"], [1, "stdout"], [2, "stderr"];
    mount("none", "/new/dev", "", $BIND | $REMOUNT | $RO | $NOSUID, "");
  }
  elsif ($kind eq "enter") {
    if (open(my $limit, ">", "/proc-now/sys/user/max_user_namespaces")) { print $limit "0"; close $limit }
    mount("none", "/new", "", $BIND | $REMOUNT | $RO | $NOSUID | $NODEV, "");
    chdir "/new" or fail("chdir");
    my ($one, $other) = (".\0", ".\0");
    call("pivot_root", $number{pivot}, $one, $other);
    call("umount", $number{umount}, $one, 2);
    chdir $second or fail("chdir $second");
  }
  elsif ($kind eq "variable") { $ENV{$first} = $second }
}
call("no new privileges", $number{prctl}, 38, 1, 0, 0, 0);
syscall($number{prctl}, 24, $_, 0, 0, 0) for 0..63;
syscall($number{prctl}, 47, 4, 0, 0, 0);
my ($header, $data) = (pack("LL", 0x20080522, 0), pack("L6", (0) x 6));
call("capabilities", $number{capset}, $header, $data);
call("parent death signal", $number{prctl}, 1, 9, 0, 0, 0);
my $program = pack("S x6 P", length($filter) / 8, $filter);
call("filter", $number{prctl}, 22, 2, $program, 0, 0);
exec("/bin/sh", "-c", $starter, "haft", @command) or fail("exec");
