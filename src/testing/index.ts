// Tools for tests of plugins and apps; imports no test framework.
export { createTestApp, type TestApp, type TestResponse } from "./create-test-app.ts";
export { createFakeKernel, type FakeKernel, type FakeResponse, pathOf, type Seen } from "./fake-kernel.ts";
export { recordingLogger } from "./recording-logger.ts";
