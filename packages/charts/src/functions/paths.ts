import { posix } from 'node:path';
import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn } from '../template/signature.ts';

/** Go's `path.Clean`: shortest name, no trailing slash, never empty. */
export function cleanPath(path: string): string {
  if (path === '') return '.';
  const clean = posix.normalize(path);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}

function base(path: string): string {
  if (path === '') return '.';
  const stripped = path.replace(/\/+$/, '');
  return stripped === '' ? '/' : stripped.slice(stripped.lastIndexOf('/') + 1);
}

function directory(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf('/') + 1));
}

function extension(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot);
}

const isAbsolute = fn(['string'], (path) => path.startsWith('/'));

/** The `os…` functions follow the machine's paths; Helm charts see Linux. */
export const pathFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['base', fn(['string'], base)],
  ['dir', fn(['string'], directory)],
  ['clean', fn(['string'], cleanPath)],
  ['ext', fn(['string'], extension)],
  ['isAbs', isAbsolute],
  ['osBase', fn(['string'], base)],
  ['osDir', fn(['string'], directory)],
  ['osClean', fn(['string'], cleanPath)],
  ['osExt', fn(['string'], extension)],
  ['osIsAbs', isAbsolute],
]);
