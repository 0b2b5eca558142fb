/** What the server under load knows its clients by. */
export const loadTokens = { agent: "agent-under-load", approver: "approver-under-load" }
