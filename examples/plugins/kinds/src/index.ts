// Two kinds of fields that Keelson does not have: amounts of money, and points on the globe.
import { defineKind } from "keelson/plugin";
import { z } from "zod";

/** An amount in the smallest unit of a currency, as payment services count: 1250 is 12.50 euros. */
export const money = (currency: string, decimals = 2) =>
  defineKind<number>({
    name: "money",
    stored: "int",
    schema: z.int32(`must be an amount of ${currency} in its smallest unit`).meta({
      description: `In the smallest unit of ${currency}`,
    }),
    toText: (value) => (value / 10 ** decimals).toFixed(decimals),
    fromText: (text) => (/^-?\d+(?:\.\d+)?$/.test(text) ? Math.round(Number(text) * 10 ** decimals) : undefined),
  });

/** A place: latitude and longitude in degrees (WGS 84). */
export const point = defineKind<{ lat: number; lng: number }>({
  name: "point",
  stored: "json",
  schema: z.strictObject({ lat: z.number().min(-90).max(90), lng: z.number().min(-180).max(180) }),
});
