import { KeelsonError } from "../../entity/index.ts";

/** The request has to carry an `Idempotency-Key`; 400. */
export class IdempotencyKeyRequiredError extends KeelsonError {
  constructor(message = 'The request needs an "Idempotency-Key"') {
    super("IDEMPOTENCY_KEY_REQUIRED", 400, message);
  }
}

/** The first request with this key is still being carried out; 409 with `Retry-After`. */
export class IdempotencyKeyInUseError extends KeelsonError {
  constructor(message = "The first request with this Idempotency-Key is still being carried out") {
    super("IDEMPOTENCY_KEY_IN_USE", 409, message, { headers: { "retry-after": "1" } });
  }
}

/** The key was sent before with another request; 422. */
export class IdempotencyKeyReusedError extends KeelsonError {
  constructor(message = "The Idempotency-Key was used for another request") {
    super("IDEMPOTENCY_KEY_REUSED", 422, message);
  }
}
