export { type FaultyProxy, startFaultyProxy } from "./testing/faulty-proxy.ts"
export { freePort } from "./testing/free-port.ts"
export { findPostgres, startPostgres, type TestPostgres, type TestStandby } from "./testing/postgres.ts"
export { readLog, type ReadLog } from "./testing/read-log.ts"
