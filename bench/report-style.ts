/** The look of the report: everything it needs, for bright and dark screens and for small ones. */
export const reportStyle = `
:root { color-scheme: light dark; --page: #fbfbf9; --card: #ffffff; --text: #22282b; --quiet: #667077; --line: #dfe3e5; --ours: #1f6f7d; --other: #98a2a8; --one: #b4553c; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14181a; --card: #1c2225; --text: #e3e8ea; --quiet: #98a4aa; --line: #333c41; --ours: #67c1cf; --other: #7c878d; --one: #e08a6d; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 1rem clamp(0.75rem, 3vw, 2.5rem) 4rem; background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
h1 { margin: 1rem 0 0.5rem; font-size: 1.8rem; line-height: 1.2; }
h2 { margin: 3rem 0 0.25rem; font-size: 1.25rem; line-height: 1.3; }
h3 { margin: 0 0 0.25rem; font-size: 0.95rem; }
p, ul { margin: 0.25rem 0 0.75rem; max-width: 48rem; }
ul { padding-left: 1.25rem; }
a { color: var(--ours); }
.quiet { color: var(--quiet); font-size: 0.9rem; }
.warning { border-left: 4px solid var(--one); padding-left: 0.75rem; font-weight: 600; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 0.75rem; }
.card { margin: 0; padding: 0.75rem; min-width: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
svg text { fill: var(--text); }
svg .label, svg .value { text-anchor: end; }
svg .tick { text-anchor: middle; fill: var(--quiet); font-size: 9px; }
svg .grid { stroke: var(--line); }
svg .one { stroke: var(--one); stroke-dasharray: 3 2; }
svg .spread { stroke-width: 2; }
.ours .label { font-weight: 600; }
.ours .bar, .ours .dot { fill: var(--ours); }
.ours .spread { stroke: var(--ours); }
.other .bar, .other .dot { fill: var(--other); }
.other .spread { stroke: var(--other); }
.end { fill: var(--card); stroke-width: 1.5; }
.ours .end { stroke: var(--ours); }
.other .end { stroke: var(--other); }
.bar + .spread { stroke: var(--text); stroke-width: 1.5; }
details { margin-top: 0.75rem; }
summary { cursor: pointer; color: var(--quiet); font-size: 0.9rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--page); }
`;
