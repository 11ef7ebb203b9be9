import { Command } from 'commander';
import { expect, test } from 'vitest';

import { subcommandFirst } from './subcommand-first.ts';

const program = new Command('slipway');
const helmfile = program.command('helmfile');
helmfile.command('list').option('-f, --file <path>').option('--verbose');
helmfile.command('sync').option('-f, --file <path>').option('-l, --selector <labels>').option('--dry-run [where]');
const nested = helmfile.command('nested');
nested.command('deep').option('-n, --number <n>');
program.command('up').option('--data <folder>');

test.each([
  [
    ['helmfile', '-f', 'state', 'list'],
    ['helmfile', 'list', '-f', 'state'],
  ],
  [
    ['helmfile', '--file=state', '--verbose', 'list', '-x'],
    ['helmfile', 'list', '--file=state', '--verbose', '-x'],
  ],
  [
    ['helmfile', '-f', 'list', '-l', 'a=b', 'sync'],
    ['helmfile', 'sync', '-f', 'list', '-l', 'a=b'],
  ],
  [
    ['helmfile', '--dry-run', 'sync'],
    ['helmfile', 'sync', '--dry-run'],
  ],
  [
    ['helmfile', 'nested', '-n', '5', 'deep'],
    ['helmfile', 'nested', 'deep', '-n', '5'],
  ],
])('flags may stand before the subcommand: %j', (words, expected) => {
  expect(subcommandFirst(program, words)).toEqual(expected);
});

test.each([
  ['a flag that nobody knows, which may have a value', ['helmfile', '--colour', 'list', 'sync']],
  ['no subcommand', ['helmfile', '-f', 'state']],
  ['one that does not exist', ['helmfile', '-f', 'state', 'lint']],
  ['a command that has none', ['up', '--data', 'list']],
  ['what follows two dashes', ['helmfile', '--', '-f', 'state', 'list']],
  ['a command that does not exist', ['down', '-f', 'list']],
])('everything stays in its place with %s', (_, words) => {
  expect(subcommandFirst(program, words)).toEqual(words);
});
