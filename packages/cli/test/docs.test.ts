import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exitCodes } from '@slipway/kube';
import type { Command } from 'commander';
import { expect, test } from 'vitest';

import { findCommands, findOperators } from '../src/packages.ts';
import { commandLine } from '../src/program.ts';
import { beginMark, withFlagTables } from '../tools/flag-tables.ts';
import { call, terminalFor } from './kit.ts';

const page = await readFile(join(resolve(import.meta.dirname, '..', '..', '..'), 'docs', 'cli.md'), 'utf8');

test('docs/cli.md documents every exit code and no other', () => {
  const codes = [...page.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(exitCodes));
});

test('docs/cli.md documents every command and no other', async () => {
  const { out } = await call(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z]+)(?: \[command\])? {2,}\S/gm)]
    .map(([, name]) => name)
    .filter((name) => name !== 'help');
  const documented = [...page.matchAll(/^\| `([a-z]+)[^|]*(?:\\\|[^|]*)*\|/gm)].map(([, name]) => name);
  expect(commands.length).toBeGreaterThan(10);
  expect(new Set(documented)).toEqual(new Set(commands));
});

test('docs/cli.md lists exactly the flags there are: node packages/cli/tools/write-flags.ts', async () => {
  expect(page).toBe(await withFlagTables(page));
});

test('docs/cli.md mentions no flag that does not exist', async () => {
  const program = await commandLine({
    terminal: terminalFor(),
    version: '',
    commands: await findCommands(),
    operators: () => findOperators(),
  });
  const withBelow = (command: Command): Command[] => [command, ...command.commands.flatMap(withBelow)];
  const known = new Set(
    withBelow(program).flatMap(({ options }) => options.flatMap(({ long, short }) => [long!, short])),
  );
  const text = page.slice(0, page.indexOf(beginMark));
  const mentioned = [...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag);
  expect(mentioned.length).toBeGreaterThan(5);
  expect(mentioned.filter((flag) => !known.has(flag) && flag !== '--help')).toEqual([]);
});
