import { yamlText, type OutputFormat, type Terminal } from '@slipway/kube';

import { statusColumns, type ManagedObject } from '../managed-object.ts';
import type { WatchedChange } from '../watched-objects.ts';
import { nameOf, statusData, tableWidth } from './status-text.ts';
import { renderTable } from './table.ts';

/** What changes, for who reads line by line: rows as a table goes on, JSON a line each, YAML a document each. */
export class StatusLines {
  readonly #terminal: Terminal;
  readonly #format: OutputFormat;
  /** What was said last, by name. */
  readonly #last = new Map<string, string>();
  #hasTitle = false;

  constructor(terminal: Terminal, format: OutputFormat) {
    this.#terminal = terminal;
    this.#format = format;
  }

  /** The lines about what is new, different or gone. */
  changed(changes: readonly WatchedChange[]): string[] {
    const rows = changes.flatMap((change) => this.#news(change));
    return rows.length === 0 ? [] : this.#lines(rows);
  }

  /** What there is to say about a change: nothing when it is about what is not shown. */
  #news({ row, isGone }: WatchedChange): ManagedObject[] {
    const name = `${nameOf(row)} ${row.key}`;
    if (isGone) return this.#last.delete(name) ? [{ ...row, state: 'Gone', good: undefined, message: '' }] : [];
    const text = JSON.stringify(row);
    if (this.#last.get(name) === text) return [];
    this.#last.set(name, text);
    return [row];
  }

  #lines(rows: readonly ManagedObject[]): string[] {
    switch (this.#format) {
      case 'json':
        return rows.map((row) => `${JSON.stringify(statusData(row))}\n`);
      case 'yaml':
        return rows.map((row) => `---\n${yamlText(statusData(row))}`);
      case 'name':
        return rows.map((row) => `${nameOf(row)}\n`);
      default: {
        const lines = renderTable(statusColumns(this.#terminal), rows, tableWidth(this.#terminal, this.#format));
        const shown = this.#hasTitle ? lines.slice(1) : lines;
        this.#hasTitle = true;
        return shown.map((line) => `${line}\n`);
      }
    }
  }
}
