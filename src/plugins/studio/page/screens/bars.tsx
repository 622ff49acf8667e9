/** @jsxImportSource preact */
import type { VNode } from "preact";
import { say } from "../words.ts";
import type { Bar } from "./chart-data.ts";

const HEIGHT = 150;
const WIDTH = 480;
/** Height above the bars for the numbers. */
const ABOVE = 18;
const BELOW = 24;
/** Maximum number of names below the bars that remain readable. */
const MOST_NAMES = 6;
/** Maximum number of bars that show their number. */
const MOST_NUMBERS = 12;

/** A bar chart, and the same numbers as a table. */
export function Bars({ bars, title }: { readonly bars: readonly Bar[]; readonly title: string }): VNode {
  if (bars.length === 0) return <p class="empty">{say("empty")}</p>;
  const most = Math.max(...bars.map(({ value }) => value), 0) || 1;
  const step = WIDTH / bars.length;
  const every = Math.ceil(bars.length / MOST_NAMES);
  return (
    <figure class="chart">
      <svg viewBox={`0 ${-ABOVE} ${WIDTH} ${ABOVE + HEIGHT + BELOW}`} role="img" aria-label={title}>
        {bars.map(({ name, text, value }, index) => {
          const height = (Math.max(value, 0) / most) * HEIGHT;
          return (
            <g key={name}>
              <rect x={index * step + step * 0.1} y={HEIGHT - height} width={step * 0.8} height={height} rx="2">
                <title>{`${name}: ${text}`}</title>
              </rect>
              {index % every === 0 && (
                <text x={index * step + step / 2} y={HEIGHT + 16} text-anchor={anchorOf(index, bars.length, step)}>
                  {name.length > 12 ? `${name.slice(0, 11)}…` : name}
                </text>
              )}
              {bars.length <= MOST_NUMBERS && (
                <text x={index * step + step / 2} y={HEIGHT - height - 5} text-anchor="middle">
                  {shortNumber(value)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
      <details>
        <summary>{say("value")}</summary>
        <table class="diff">
          <tbody>
            {bars.map(({ name, text }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td class="number">{text}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** Keeps the first and the last name inside the chart. */
function anchorOf(index: number, count: number, step: number): "start" | "middle" | "end" {
  if (step > 60) return "middle";
  if (index === 0) return "start";
  return index === count - 1 ? "end" : "middle";
}

const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

function shortNumber(value: number): string {
  return SHORT.format(value);
}
