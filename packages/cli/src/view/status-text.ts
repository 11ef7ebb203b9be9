import { yamlText, type OutputFormat, type Terminal } from '@slipway/kube';
import { groupOf, resourceName } from '@slipway/manifests';

import { statusColumns, type ManagedObject } from '../managed-object.ts';
import { renderTable } from './table.ts';

/** Some objects in a format of `-o`. */
export function formatStatus(terminal: Terminal, objects: readonly ManagedObject[], format: OutputFormat): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(objects.map(statusData), undefined, 2)}\n`;
    case 'yaml':
      return yamlText(objects.map(statusData));
    case 'name':
      return objects.map((row) => `${nameOf(row)}\n`).join('');
    default:
      return `${renderTable(statusColumns(terminal), objects, tableWidth(terminal, format)).join('\n')}\n`;
  }
}

/** Only a terminal has an edge at which a message could be cut. */
export function tableWidth(terminal: Terminal, format: OutputFormat): number {
  return terminal.interactive && format !== 'wide' ? terminal.columns() : Number.POSITIVE_INFINITY;
}

/** How kubectl takes it. */
export function nameOf({ apiVersion, kind, name }: ManagedObject): string {
  return resourceName({ group: groupOf(apiVersion), kind, name });
}

/** What programs read. */
export function statusData({ since, good: _good, key: _key, ...row }: ManagedObject): object {
  const { conditions, ...rest } = row;
  return { ...rest, ...(since === undefined ? {} : { since: new Date(since).toISOString() }), conditions };
}
