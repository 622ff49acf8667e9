/** @jsxImportSource preact */
import type { ComponentType, VNode } from "preact";
import { useRequest } from "../state/use-request.ts";
import { Failure, Loading } from "./status.tsx";

interface LazyProps<P> {
  /** Name of the component, unique on the page. */
  readonly name: string;
  readonly load: () => Promise<ComponentType<P>>;
  readonly props: P;
}

/** A component whose code is loaded when it is first shown. */
export function Lazy<P extends object>({ name, load, props }: LazyProps<P>): VNode {
  const loaded = useRequest(name, async () => ({ Component: await load() }));
  if (loaded.error !== undefined) return <Failure error={loaded.error} onRetry={loaded.reload} />;
  if (loaded.data === undefined) return <Loading />;
  const { Component } = loaded.data;
  return <Component {...props} />;
}
