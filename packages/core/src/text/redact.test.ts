import { describe, expect, it } from "@effect/vitest"

import { redact } from "./redact.ts"

describe("redaction", () => {
  it.each([
    ["tool --password=hunter2 x", "tool --password=[redacted] x"],
    ["tool --db-password 'two words' --verbose", "tool --db-password '[redacted]' --verbose"],
    ["gh auth login --with-token abc", "gh auth login --with-token [redacted]"],
    ["mysql -u root -phunter2 shop", "mysql -u root -p[redacted] shop"],
    ["mysqldump -h db -phunter2 shop | gzip", "mysqldump -h db -p[redacted] shop | gzip"],
    ["sshpass -p hunter2 ssh me@host", "sshpass -p [redacted] ssh me@host"],
    ["redis-cli -h db -a hunter2 ping", "redis-cli -h db -a [redacted] ping"],
    ["docker login -u me -p hunter2", "docker login -u me -p [redacted]"],
    ["curl -u me:hunter2 https://x.test", "curl -u me:[redacted] https://x.test"],
    ["curl 'https://x.test/?a=b&access_token=abc&c=d'", "curl 'https://x.test/?a=b&access_token=[redacted]&c=d'"],
    ["https://x.test/f?X-Amz-Signature=abc&sig=def", "https://x.test/f?X-Amz-Signature=[redacted]&sig=[redacted]"],
    [`curl -d '{"user":"me","password": "hunter2"}'`, `curl -d '{"user":"me","password": "[redacted]"}'`],
    [String.raw`curl -d "{\"client_secret\":\"abc\"}"`, String.raw`curl -d "{\"client_secret\":\"[redacted]\"}"`],
    [`curl -H "X-Api-Key: abcdef" -H 'Cookie: id=abcdef'`, `curl -H "X-Api-Key: [redacted]" -H 'Cookie: [redacted]'`],
    ["Authorization: Basic YWJjOmRlZg==", "Authorization: Basic [redacted]"],
    ["wget --user=me:hunter2 https://x.test", "wget --user=me:[redacted] https://x.test"],
    ["http -u me:hunter2 x.test", "http -u me:[redacted] x.test"],
    ["mongosh -u root -h db -p hunter2", "mongosh -u root -h db -p [redacted]"],
    ["sqlcmd -S db -U sa -P 'hunter 2' -Q x", "sqlcmd -S db -U sa -P '[redacted]' -Q x"],
    ["ldapsearch -D cn=admin -w hunter2", "ldapsearch -D cn=admin -w [redacted]"],
    ["password = hunter2", "password = [redacted]"],
    ["db:\n  password: hunter2\n  port: 5", "db:\n  password: [redacted]\n  port: 5"],
    [`const password = "correct horse"`, `const password = "[redacted]"`],
    [`DB["password"] = 'x1'`, `DB["password"] = '[redacted]'`],
    [`'api_key' => 'abcdef012345'`, `'api_key' => '[redacted]'`],
    ["<password>hunter2</password>", "<password>[redacted]</password>"],
    ["Server=db;User Id=sa;Password=letmein;Timeout=5", "Server=db;User Id=sa;Password=[redacted];Timeout=5"],
    ["AccountName=a;AccountKey=abc+def==;Suffix=x", "AccountName=a;AccountKey=[redacted];Suffix=x"],
    ["host=db user=me password=hunter2 dbname=x", "host=db user=me password=[redacted] dbname=x"],
    ["jdbc:mysql://db/x?user=me&password=letmein", "jdbc:mysql://db/x?user=me&password=[redacted]"],
    ["me:hunter2@tcp(db:3306)/x", "me:[redacted]@tcp(db:3306)/x"],
    ["redis://:hunter2@db:6379", "redis://:[redacted]@db:6379"],
    ["//registry.test/:_authToken=abcdef", "//registry.test/:_authToken=[redacted]"],
    ["machine x.test login me password letmein", "machine x.test login me password [redacted]"],
    ["PGPASSWORD=letmein MYSQL_PWD=letmein psql", "PGPASSWORD=[redacted] MYSQL_PWD=[redacted] psql"],
    [
      "r=https%3A%2F%2Fx%3Fa%3Db%26access_token%3Dabc%26c%3Dd",
      "r=https%3A%2F%2Fx%3Fa%3Db%26access_token%3D[redacted]%26c%3Dd"
    ],
    [
      String.raw`{"body":"{\"a\":\"{\\\"password\\\":\\\"letmein\\\"}\"}"}`,
      String.raw`{"body":"{\"a\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"}`
    ],
    [String.raw`{\u0022password\u0022:\u0022letmein\u0022}`, String.raw`{\u0022password\u0022:\u0022[redacted]\u0022}`],
    [`{"Authorization":"Basic YWJjOmRlZg=="}`, `{"Authorization":"Basic [redacted]"}`],
    ["curl -H Authorization:abcdef1 x.test", "curl -H Authorization:[redacted] x.test"],
    ["extraheader = AUTHORIZATION: basic eC1hY2Nlc3M6Z2hz", "extraheader = AUTHORIZATION: basic [redacted]"]
  ])("replaces the secret in %s", (text, expected) => {
    expect(redact(text)).toBe(expected)
    expect(redact(expected)).toBe(expected)
  })

  it.each([
    "mkdir -pv a && cp -pr b c && ps -p 1",
    "mysql -p",
    "tool --max-tokens=500 --password-file=/run/x --token-file y",
    "const token = next(); password: string, secretKey: z.string()",
    '{ "tokens": 5, "token_count": "5", "key": "value" }',
    "const headers = { cookie: cookie.split(1) }",
    "see --password. There is also --token.",
    "a?b=c&tokens=1&page=2",
    "docker run -u 1000:1000 -u node:node -p 8080:80 -p 3000 x",
    "sudo -u postgres mkdir -p /var/x && ssh -u -p 22 host",
    "DB_PASSWORD=${DB_PASSWORD} TOKEN=$TOKEN tool --token=$TOKEN --password <password> -u $USER:$PASS",
    `const password = process.env.PASSWORD, token = tokens[0], secret = getSecret("x1")`,
    `password: z.string(), token: Token2, secret: undefined, api_key: None, pwd == "x1"`,
    `{ "password": "Password", "secret": "string", "token": "identifier", "apiKey": "Your API key" }`,
    `secret: Uint8Array, progressToken: ProgressTokenSchema$1, "pbkdf2-password": "1.2.1"`,
    `<input name="password" type="password" placeholder="Enter your password">`,
    `if (token === "function1" || password !== "x1") return`,
    "  --token TOKEN  the token; --password is required, and --secret or --api-key as well",
    "uses Bearer authentication; the Bearer scheme's name",
    "https://${user}:${password}@host and https://user:***@host",
    "max_token: 5, token-2: x, pass: 3, compass=north1, bypass: a1b2c3d4"
  ])("leaves %s as it is", (text) => {
    expect(redact(text)).toBe(text)
  })

  it.each([
    ["a provider's key", "use sk-abcdefghijklmnopqrstuvwx now", "use [redacted] now"],
    ["a GitHub token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"],
    ["a bearer header", "Authorization: Bearer abcdef123456", "Authorization: [redacted]"],
    [
      "a password in a URL",
      "git clone https://me:hunter22@example.com/x",
      "git clone https://me:[redacted]@example.com/x"
    ],
    ["a variable on a command line", "DB_PASSWORD=hunter22 npm test", "DB_PASSWORD=[redacted] npm test"],
    [
      "a quoted value",
      `export API_TOKEN='two words' DB_PASSWORD="x y"`,
      `export API_TOKEN='[redacted]' DB_PASSWORD="[redacted]"`
    ],
    [
      "a cloud's secret key",
      "AWS_SECRET_ACCESS_KEY=abc/def+ghi aws s3 ls",
      "AWS_SECRET_ACCESS_KEY=[redacted] aws s3 ls"
    ],
    ["an access key id", "AKIAABCDEFGHIJKLMNOP", "[redacted]"],
    ["a private key", "x\n-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\ny", "x\n[redacted]\ny"]
  ])("replaces %s", (_what, text, expected) => {
    expect(redact(text)).toBe(expected)
  })

  it.each([
    "-----BEGIN PRIVATE KEY-----",
    ...["sk", "pk", "rk"].map((kind) => `${kind}-${"a".repeat(16)}`),
    ...["p", "o", "u", "s", "r"].map((kind) => `gh${kind}_${"a".repeat(20)}`),
    `github_pat_${"a".repeat(20)}`,
    `glpat-${"a".repeat(16)}`,
    `npm_${"a".repeat(30)}`,
    ...["a", "b", "p", "r", "s"].map((kind) => `xox${kind}-${"1".repeat(10)}`),
    `ASIA${"B".repeat(16)}`,
    `AIza${"a".repeat(30)}`,
    "Bearer\tabcdefg1",
    "eyJabcdefgh.abcdefgh."
  ])("replaces %s, as short as it can be, wherever it stands", (secret) => {
    expect(redact(secret)).toBe("[redacted]")
    expect(redact(`${"-".repeat(5000)} ${secret}`)).toBe(`${"-".repeat(5000)} [redacted]`)
  })

  it.each([
    ["ab://:", "p", "@"],
    [`postgres://${"u".repeat(256)}:`, ":".repeat(256), "@host"],
    ...["PASSWORD", "SECRET", "TOKEN", "APIKEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATEKEY"].map((name) => [
      `${name}=`,
      "abcd",
      ""
    ])
  ])("replaces what is secret by what stands before it: %s", (before, secret, after) => {
    expect(redact(`${before}${secret}${after}`)).toBe(`${before}[redacted]${after}`)
  })

  it("replaces what a name calls secret, at any depth, and nothing else", () => {
    expect(
      redact({
        env: { API_KEY: "x", api_key: "y", PATH: "/bin", "X-Auth-Token": "z" },
        list: [{ password: "p", empty: "" }],
        headers: { "set-cookie": ["a=1", "b=2"] },
        secret_key: "k",
        AWS_SECRET_ACCESS_KEY: "k",
        max_tokens: 10,
        n: 1,
        none: null
      })
    ).toEqual({
      env: { API_KEY: "[redacted]", api_key: "[redacted]", PATH: "/bin", "X-Auth-Token": "[redacted]" },
      list: [{ password: "[redacted]", empty: "" }],
      headers: { "set-cookie": ["[redacted]", "[redacted]"] },
      secret_key: "[redacted]",
      AWS_SECRET_ACCESS_KEY: "[redacted]",
      max_tokens: 10,
      n: 1,
      none: null
    })
  })

  it("replaces arguments after an option that takes a secret, and values beside a secret name", () => {
    expect(
      redact({
        args: ["--user", "me", "--password", "letmein", "--token", "--verbose", "x"],
        env: [
          { name: "API_KEY", value: "abc" },
          { name: "PATH", value: "/bin" }
        ]
      })
    ).toEqual({
      args: ["--user", "me", "--password", "[redacted]", "--token", "--verbose", "x"],
      env: [
        { name: "API_KEY", value: "[redacted]" },
        { name: "PATH", value: "/bin" }
      ]
    })
  })

  it("leaves ordinary text as it is", () => {
    const text = "the token ring, a pass word, skeleton-key-abc, https://example.com:8080/path"
    expect(redact(text)).toBe(text)
  })

  it("does not change what it was given", () => {
    const value = { token: "secret" }
    redact(value)
    expect(value).toEqual({ token: "secret" })
  })

  it("is quick with a text that looks like the beginning of everything", () => {
    const text =
      "https://a:".repeat(20_000) + "-----BEGIN ".repeat(20_000) + "eyJ-".repeat(250_000) + "A_TOKEN= ".repeat(50_000)
    expect(redact(text)).toBe(text)
  })
})
