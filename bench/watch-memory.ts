import { readFileSync, writeFileSync } from "node:fs";
import { GCProfiler, getHeapStatistics } from "node:v8";
import type { MemoryUse } from "./server-process.ts";

const usedHeap = (): number => getHeapStatistics().used_heap_size;

// See proc(5): 5 makes the largest resident set begin anew.
function forgetPeak(): boolean {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
    return true;
  } catch {
    return false;
  }
}

function peakRssBytes(): number | undefined {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/**
 * Watches this process. What is allocated between two collections is what the heap has grown by, and the profiler tells
 * how large it was before and after each; a flag that logs collections would tell the same, in tenths of a megabyte.
 */
export function createMemoryWatch(): { begin(): boolean; end(): MemoryUse } {
  let profiler: GCProfiler | undefined;
  let usedAtBegin = 0;
  let peakIsOurs = false;
  return {
    begin() {
      profiler = new GCProfiler();
      peakIsOurs = forgetPeak();
      profiler.start();
      usedAtBegin = usedHeap();
      return true;
    },
    end() {
      let used = usedAtBegin;
      let allocatedBytes = 0;
      for (const { beforeGC, afterGC } of profiler?.stop().statistics ?? []) {
        allocatedBytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - used);
        used = afterGC.heapStatistics.usedHeapSize;
      }
      allocatedBytes += Math.max(0, usedHeap() - used);
      profiler = undefined;
      const peak = peakIsOurs ? peakRssBytes() : undefined;
      return { allocatedBytes, ...(peak !== undefined && { peakRssBytes: peak }) };
    },
  };
}
