import { availableParallelism } from "node:os";
import { createHashQueue, type HashQueue } from "./hash-queue.ts";

/** Threads in libuv's pool: `UV_THREADPOOL_SIZE` as libuv reads it. */
export function threadPoolSize(setting: string | undefined = process.env.UV_THREADPOOL_SIZE): number {
  if (setting === undefined) return 4;
  const size = Number.parseInt(setting, 10) || 1;
  return size < 0 || size > 1024 ? 1024 : size;
}

const threads = Math.max(1, threadPoolSize() - 1);

/** Hashes that a queue runs at once unless told otherwise: one per core, and one thread fewer than there are at most. */
export const DEFAULT_CONCURRENCY: number = Math.min(threads, availableParallelism());

/**
 * The threads that all hashers of the process share. A hash holds a thread of libuv's pool, on which DNS look-ups, files
 * and some database clients wait as well: whatever the hashers together ask for, one thread stays free of hashing.
 */
export const onHashThread: HashQueue = createHashQueue({ concurrency: threads, queue: Number.POSITIVE_INFINITY });
