import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import express from "express";
import { noopLogger } from "keelson";
import type { Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTasks, type TasksApi } from "../../examples/react/api.ts";
import { createApp } from "../../examples/react/app.ts";
import { viteOptions } from "../../examples/react/vite-options.ts";
import { axeProblems } from "../support/axe.ts";
import { testBrowser } from "../support/browser.ts";

const browser = testBrowser();
let folder = "";
let api: TasksApi;
let server: Server;
let url = "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "react-tasks-"));
  await build({ ...viteOptions(), build: { outDir: folder, emptyOutDir: true } });
  api = createTasks({ logger: noopLogger });
  server = createApp(api, express.static(folder)).listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await api.close();
  rmSync(folder, { recursive: true });
});

async function open(): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.getByRole("listitem").first().waitFor();
  return page;
}

describe("the React example, built by Vite", () => {
  it("shows a page of tasks with their projects, and more on request", async () => {
    const page = await open();
    await expect.poll(() => page.getByRole("listitem").count()).toBe(10);
    expect(await page.getByRole("listitem").first().textContent()).toMatch(/Garden|House/);
    for (const count of [20, 24]) {
      await page.getByRole("button", { name: "Show more" }).click();
      await expect.poll(() => page.getByRole("listitem").count()).toBe(count);
    }
    await expect.poll(() => page.getByRole("button", { name: "Show more" }).count()).toBe(0);
  });

  it("has no violations for axe in both themes, in a wide window and a narrow one", async () => {
    const page = await open();
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1280, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        expect(await axeProblems(page), `${colorScheme}, ${width} px`).toEqual([]);
      }
  });

  it("updates counts and lists after each change", async () => {
    const page = await open();
    await page.getByText("19 open").waitFor();
    await page.getByRole("textbox", { name: "Title" }).fill("Sow the lawn");
    await page.getByRole("combobox", { name: "Project" }).selectOption("Garden");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("20 open").waitFor();
    await page.getByRole("checkbox", { name: "Sow the lawn" }).click();
    await page.getByText("19 open").waitFor();
    await page.getByRole("checkbox", { name: "Open only" }).check();
    await expect.poll(() => page.getByText("Sow the lawn").count()).toBe(0);
    await page.getByRole("checkbox", { name: "Open only" }).uncheck();
    await page.getByRole("button", { name: "Delete Sow the lawn" }).click();
    await expect.poll(() => page.getByText("Sow the lawn").count()).toBe(0);
    expect(await api.asSystem().task.count()).toBe(24);
  });

  it("shows the API's message about a value at its field", async () => {
    const page = await open();
    await page.getByRole("textbox", { name: "Title" }).fill("x");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByText("must be at least 3 characters").waitFor();
    expect(await page.getByRole("textbox", { name: "Title" }).getAttribute("aria-invalid")).toBe("true");
  });

  it("fits a narrow screen, in light and in dark", async () => {
    const page = await open();
    await page.setViewportSize({ width: 390, height: 800 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: join(process.env.SCREENSHOTS, `react-${colorScheme}.png`) });
    }
  });
});
