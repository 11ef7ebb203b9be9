import type { Resource, Strategy, TableColumn } from '../resource.ts';
import { defaultStrategy } from './default-strategy.ts';

/** How a built-in kind behaves. `version` matters only for kinds whose versions differ. */
export function strategyOf(_group: string, _version: string, _kind: string): Strategy {
  return defaultStrategy;
}

const fallbackColumns: readonly TableColumn[] = [
  { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
  { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
];

/** The table columns of a resource: its own, or name and age. */
export function columnsOf(resource: Partial<Pick<Resource, 'columns'>>): readonly TableColumn[] {
  return resource.columns && resource.columns.length > 0 ? resource.columns : fallbackColumns;
}
