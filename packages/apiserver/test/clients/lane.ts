import { ensureReferenceBinaries, type ComponentName, type ReferenceBinaries } from '@slipway/reference-cluster';

export type Lane = { readonly binaries: ReferenceBinaries } | { readonly skipped: string };

/** Whether clients are also run against the real server, to compare what they print. */
export const live: boolean = process.env['SLIPWAY_CLUSTER'] === 'reference';

/** The binaries of the real clients, or why they are not run; the reason is printed. */
export async function clientLane(what: string, tools: readonly ComponentName[]): Promise<Lane> {
  const wanted = live || process.env['SLIPWAY_CLIENTS'] === '1';
  const found = wanted ? await ensureReferenceBinaries({ build: live, tools }) : undefined;
  const skipped = !found
    ? 'run with SLIPWAY_CLIENTS=1 or in the reference lane (npm run test:reference)'
    : found.available
      ? undefined
      : found.reason;
  if (skipped === undefined) return { binaries: found as ReferenceBinaries };
  process.stdout.write(`SKIPPED ${what}: ${skipped}\n`);
  return { skipped };
}
