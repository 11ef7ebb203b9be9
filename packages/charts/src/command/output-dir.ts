import { join, resolve } from 'node:path';
import type { Terminal } from '@slipway/kube/command';

import type { RenderedChart } from '../render/render.ts';
import { writeBelow } from './written-file.ts';

export interface OutputDirOptions {
  readonly includeCrds: boolean;
  readonly hooks: boolean;
  readonly skipTests: boolean;
  /** A folder of this name, for objects and hooks. */
  readonly releaseName: string | undefined;
}

/** Writes what was rendered to files, each template to its own, and says so line by line. */
export async function writeOutput(
  terminal: Terminal,
  folder: string,
  rendered: RenderedChart,
  { includeCrds, hooks, skipTests, releaseName }: OutputDirOptions,
): Promise<void> {
  const written = new Set<string>();
  const write = async (below: string, path: string, data: string | Uint8Array): Promise<void> => {
    const shown = join(below, path);
    const file = resolve(terminal.cwd, shown);
    const append = written.has(file);
    written.add(file);
    const text = Buffer.concat([Buffer.from(`---\n# Source: ${path}\n`), Buffer.from(data), Buffer.from('\n')]);
    await writeBelow(file, text, { append });
    terminal.out(`wrote ${shown}\n`);
  };
  const named = releaseName === undefined ? folder : join(folder, releaseName);
  for (const { path, data } of includeCrds ? rendered.crds : []) await write(folder, path, data);
  for (const { path, content } of rendered.manifests) await write(named, path, content);
  for (const { path, content, events } of hooks ? rendered.hooks : [])
    if (!(skipTests && events.includes('test'))) await write(named, path, content);
}
