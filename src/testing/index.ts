// Tools for tests of plugins and apps; imports no test framework.
export { createTestApp, type TestApp, type TestResponse } from "./create-test-app.ts";
export { type DriverCase, type DriverContract, driverContract } from "./driver-contract/driver-contract.ts";
export { createFakeKernel, type FakeKernel, pathOf, type Seen } from "./fake-kernel.ts";
export type { CallInit, FakeResponse } from "./fake-requests.ts";
export { recordingLogger } from "./recording-logger.ts";
