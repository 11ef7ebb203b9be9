import { sleep, type Kind, type OutputFormat, type Terminal } from '@slipway/kube';

import { LiveView } from './view/live-view.ts';
import { StatusLines } from './view/status-lines.ts';
import { formatStatus } from './view/status-text.ts';
import type { WatchedChange, WatchedObjects } from './watched-objects.ts';

/** How often the ages of a table on a terminal move, and how soon a broken watch is told. Nothing is asked of the cluster for it. */
const refreshMs = 500;

export interface StatusWatch {
  readonly watched: WatchedObjects;
  /** Kinds the cluster does not know yet. */
  readonly missing: readonly Kind[];
  readonly format: OutputFormat;
  /** What is said where there is nothing. */
  readonly nothing: string;
}

/**
 * Shows objects until somebody ends it. On a terminal the table is drawn over itself; whatever else reads it gets a line, or
 * a document, for each change, when it happens.
 */
export async function watchStatus(terminal: Terminal, watch: StatusWatch): Promise<void> {
  const { watched, missing, format } = watch;
  const isTable = format === 'table' || format === 'wide';
  const view = terminal.interactive && isTable ? drawn(terminal, watch) : written(terminal, watch, isTable);
  let isLoaded = false;
  watched.start((change) => isLoaded && view.changed(change));
  const loading = watched.loaded(missing, terminal.signal).then(
    () => {
      isLoaded = true;
      view.begin();
    },
    // Nobody waits for it any more.
    () => undefined,
  );
  let told = '';
  while (!terminal.signal.aborted) {
    await sleep(terminal.clock, refreshMs, terminal.signal).catch(() => undefined);
    if (isLoaded) view.refresh();
    const problems = watched.problems().join('\n');
    if (problems !== '' && problems !== told) terminal.err(`${problems}\n`);
    told = problems;
  }
  await loading;
}

interface StatusView {
  /** Everything is known. */
  begin(): void;
  changed(change: WatchedChange): void;
  refresh(): void;
}

function drawn(terminal: Terminal, { watched, format, nothing }: StatusWatch): StatusView {
  const view = new LiveView(terminal);
  const draw = () => {
    const objects = watched.objects();
    const text = objects.length === 0 ? nothing : formatStatus(terminal, objects, format);
    view.draw(text.trimEnd().split('\n'));
  };
  // A storm of changes is one drawing.
  return { begin: draw, changed: () => undefined, refresh: draw };
}

function written(terminal: Terminal, { watched, format, nothing }: StatusWatch, isTable: boolean): StatusView {
  const lines = new StatusLines(terminal, format);
  const write = (changes: readonly WatchedChange[]) => {
    for (const line of lines.changed(changes)) terminal.out(line);
  };
  return {
    begin: () => {
      const objects = watched.objects();
      if (objects.length === 0 && isTable) terminal.err(nothing);
      write(objects.map((row) => ({ row, isGone: false })));
    },
    changed: (change) => write([change]),
    refresh: () => undefined,
  };
}
