// Tools for testing plugins and apps; no dependency on a test framework.
export { createTestApp, type TestApp } from "./create-test-app.ts";
export { driverContract } from "./driver-contract/driver-contract.ts";
export { createFakeKernel, type FakeKernel } from "./fake-kernel.ts";
export { recordingLogger } from "./recording-logger.ts";
