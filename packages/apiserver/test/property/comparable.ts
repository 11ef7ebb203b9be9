import type { Exchange } from '../differential/normalise.ts';

/** Without what depends on the order in which Go walks through its maps. */
export function comparable(exchanges: readonly Exchange[]): Exchange[] {
  return exchanges.map((exchange) => ({ ...exchange, body: walk(exchange.body) as Exchange['body'] }));
}

function walk(value: unknown): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map(walk);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
}

function text(value: string): string {
  const errors = value.indexOf('errors:\n');
  if (errors >= 0) {
    const [head, ...lines] = value.slice(errors).split('\n');
    return [value.slice(0, errors) + head, ...lines.toSorted()].join('\n');
  }
  return value.replace(/"(\{\\"(?:[^"\\]|\\.)*\})"/, (whole, quoted: string) => {
    try {
      return JSON.stringify(sorted(JSON.parse(JSON.parse(`"${quoted}"`) as string)));
    } catch {
      return whole;
    }
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sorted(item)]));
}
