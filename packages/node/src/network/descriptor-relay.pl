# Takes sockets that programs in other network namespaces made, and hands them to the host over Node's own channel for
# descriptors. Node has no other way to take a descriptor. Nothing of a sandbox ever runs here: what connects is haft's
# own program in a new namespace, before the command starts.
#
# Arguments: the path to listen on, and Node's name of the architecture.
use strict;
use warnings;
my ($path, $architecture) = @ARGV;
my ($sendmsg, $recvmsg) = $architecture eq "arm64" ? (211, 212) : (46, 47);
my ($SOL_SOCKET, $SCM_RIGHTS, $CLOEXEC) = (1, 1, 0x40000000);
$SIG{PIPE} = "IGNORE";
open(my $channel, "+<&=", $ENV{NODE_CHANNEL_FD}) or die "channel: $!\n";
socket(my $entry, 1, 1, 0) or die "socket: $!\n";
bind($entry, pack("S a108", 1, $path)) or die "bind: $!\n";
chmod 0666, $path;
listen($entry, 128) or die "listen: $!\n";

sub header {
  my ($iov, $control) = @_;
  pack("Q Q P Q P Q l x4", 0, 0, $iov, 1, $control, length $control, 0);
}

# The message has the form that Node's own processes use among themselves (NODE_HANDLE).
sub hand_on {
  my ($text, $descriptor) = @_;
  my $iov = pack("P Q", $text, length $text);
  my $control = pack("Q l l l x4", 20, $SOL_SOCKET, $SCM_RIGHTS, $descriptor);
  my $message = header($iov, $control);
  syscall($sendmsg, fileno $channel, $message, 0);
}

sub take {
  my ($client) = @_;
  my $text = "\0" x 64;
  my $control = "\0" x 64;
  my $iov = pack("P Q", $text, length $text);
  my $message = header($iov, $control);
  my $got = syscall($recvmsg, fileno $client, $message, $CLOEXEC);
  return if $got <= 0;
  my ($length, $level, $type, $descriptor) = unpack("Q l l l", $control);
  return unless $length >= 20 && $level == $SOL_SOCKET && $type == $SCM_RIGHTS;
  return (substr($text, 0, $got), $descriptor);
}

syswrite($channel, "\"ready\"\n");
my %clients;
while (1) {
  my $readable = "";
  vec($readable, fileno $_, 1) = 1 for $channel, $entry, values %clients;
  next if select($readable, undef, undef, undef) < 0;
  # The host answers each descriptor; the end of its answers is the end of the host.
  if (vec($readable, fileno $channel, 1)) { sysread($channel, my $answers, 65536) or exit 0 }
  if (vec($readable, fileno $entry, 1)) {
    my $client;
    $clients{fileno $client} = $client if accept($client, $entry);
  }
  for my $client (grep { vec($readable, fileno $_, 1) } values %clients) {
    my ($text, $descriptor) = take($client);
    if (!defined $descriptor) { delete $clients{fileno $client}; close $client; next }
    if ($text =~ /^([0-9a-f]{32}) (tcp|udp)$/) {
      my $type = $2 eq "tcp" ? '"type":"net.Server"' : '"type":"dgram.Socket","dgramType":"udp4"';
      hand_on(qq({"cmd":"NODE_HANDLE",$type,"msg":{"sandbox":"$1"}}\n), $descriptor);
    }
    if (open(my $copy, "<&=", $descriptor)) { close $copy }
    syswrite($client, "k");
  }
}
