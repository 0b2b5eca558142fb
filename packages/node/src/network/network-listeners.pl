# Prepares a new network namespace, as the first program in it: brings the loopback up, gives it the range of stand-in
# addresses, and hands listening sockets to the host, which accepts their connections outside. A socket stays in the
# namespace that it was made in. Nothing is left inside that a command could kill, replace or use.
#
# HAFT_NETWORK: the relay's path, the sandbox's token, Node's name of the architecture, then the ports to listen on.
{
  my ($path, $token, $architecture, $proxy, @ports) = split / /, delete $ENV{HAFT_NETWORK};
  my $sendmsg = $architecture eq "arm64" ? 211 : 46;
  my $stop = sub { print STDERR "network: $_[0]: $!\n"; exit 1 };
  my $at = sub { my ($port, @address) = @_; pack("S n C4 x8", 2, $port, @address) };
  socket(my $control, 2, 2, 0) or $stop->("socket");
  my $set = sub { my ($request, $name, $value) = @_; my $data = pack("a16 a24", $name, $value); ioctl($control, $request, $data) or $stop->("loopback") };
  $set->(0x8914, "lo", pack("s", 0x49));
  $set->(0x8916, "lo:1", $at->(0, 198, 18, 0, 1));
  $set->(0x891c, "lo:1", $at->(0, 255, 254, 0, 0));
  socket(my $relay, 1, 1, 0) or $stop->("socket");
  connect($relay, pack("S a108", 1, $path)) or $stop->("relay");
  my $hand_out = sub {
    my ($socket, $kind) = @_;
    my $text = "$token $kind";
    my $iov = pack("P Q", $text, length $text);
    my $rights = pack("Q l l l x4", 20, 1, 1, fileno $socket);
    my $message = pack("Q Q P Q P Q l x4", 0, 0, $iov, 1, $rights, length $rights, 0);
    syscall($sendmsg, fileno $relay, $message, 0) == length $text or $stop->("relay");
    sysread($relay, my $answer, 1) or $stop->("relay");
  };
  for ([$proxy, 127, 0, 0, 1], map { [$_, 0, 0, 0, 0] } @ports) {
    socket(my $socket, 2, 1, 6) or $stop->("socket");
    bind($socket, $at->(@$_)) or $stop->("port $_->[0]");
    listen($socket, 512) or $stop->("listen");
    $hand_out->($socket, "tcp");
  }
  socket(my $names, 2, 2, 17) or $stop->("socket");
  bind($names, $at->(53, 127, 0, 0, 1)) or $stop->("port 53");
  $hand_out->($names, "udp");
}
