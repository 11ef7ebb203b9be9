import { yamlText, type OutputFormat, type Terminal } from '@slipway/kube';

import { statusColumns, type ManagedObject } from '../managed-object.ts';
import { nameOf, statusData, tableWidth } from './status-text.ts';
import { renderTable } from './table.ts';

/** What changed since the last look, for who reads line by line: rows as a table goes on, JSON a line each, YAML a document each. */
export class StatusLines {
  readonly #terminal: Terminal;
  readonly #format: OutputFormat;
  #last = new Map<string, { readonly row: ManagedObject; readonly text: string }>();
  #hasTitle = false;

  constructor(terminal: Terminal, format: OutputFormat) {
    this.#terminal = terminal;
    this.#format = format;
  }

  /** The lines about what is new, different or gone. */
  changed(objects: readonly ManagedObject[]): string[] {
    const before = this.#last;
    this.#last = new Map(objects.map((row) => [`${nameOf(row)} ${row.key}`, { row, text: JSON.stringify(row) }]));
    const rows: ManagedObject[] = [];
    for (const [name, { row, text }] of this.#last) if (before.get(name)?.text !== text) rows.push(row);
    for (const [name, { row }] of before)
      if (!this.#last.has(name)) rows.push({ ...row, state: 'Gone', good: undefined, message: '' });
    return rows.length === 0 ? [] : this.#lines(rows);
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
