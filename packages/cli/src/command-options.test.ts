import { Command } from 'commander';
import { expect, test } from 'vitest';

import { commandOptions, withBareFlags } from './command-options.ts';

test('a flag whose name begins with no- is off until it is given, one that is on by default is typed --no-NAME', () => {
  const options = commandOptions({
    flags: {
      'no-hooks': { type: 'boolean', summary: 'run no hooks' },
      watch: { type: 'boolean', summary: 'watch', default: true },
    },
  });
  const seen = ['no-hooks', 'watch'].map((name) => {
    const option = options.get(name)!;
    return [option.long, option.negate, option.attributeName()];
  });
  expect(seen).toEqual([
    ['--no-hooks', false, 'noHooks'],
    ['--no-watch', true, 'watch'],
  ]);
});

test.each([
  [['--dry-run', 'shop', 'chart'], 'client', ['shop', 'chart']],
  [['shop', '--dry-run=server', 'chart'], 'server', ['shop', 'chart']],
  [['shop', '--description', '--dry-run', 'chart'], undefined, ['shop', 'chart']],
  [['shop', '--', '--dry-run'], undefined, ['shop', '--dry-run']],
])('a flag that may have a value takes it only after an equals sign: %j', (words, dryRun, args) => {
  const options = [
    ...commandOptions({
      flags: {
        'dry-run': { type: 'string', summary: 'write nothing', choices: ['client', 'server'], bare: 'client' },
        description: { type: 'string', summary: 'a text' },
      },
    }).values(),
  ];
  const command = new Command()
    .argument('[word...]')
    .exitOverride()
    .action(() => undefined);
  for (const option of options) command.addOption(option);
  command.parse(withBareFlags(words, options), { from: 'user' });
  expect([command.opts()['dryRun'], command.args]).toEqual([dryRun, args]);
});

test.each([
  [['--wait=true'], true, true],
  [['--wait=false'], false, true],
  [['--wait', '--wait=false'], false, true],
  [['-w', '--wait=0'], false, true],
  [['--wait=false', '--wait'], true, true],
  [['--note', '--wait', '--no-colour=false'], undefined, true],
  [['--no-colour=true'], undefined, false],
  [['--no-colour', '--no-colour=f'], undefined, true],
])('a flag that is there or not may say so after an equals sign: %j', (words, wait, colour) => {
  const declared = commandOptions({
    flags: {
      wait: { type: 'boolean', short: 'w', summary: 'wait' },
      colour: { type: 'boolean', summary: 'colours', default: true },
      note: { type: 'string', summary: 'a text' },
    },
  });
  const command = new Command().exitOverride().action(() => undefined);
  for (const option of declared.values()) command.addOption(option);
  const parsed = withBareFlags(words, declared.values(), (option) =>
    command.setOptionValueWithSource(option.attributeName(), option.negate, 'cli'),
  );
  command.parse(parsed, { from: 'user' });
  const { wait: seen, colour: colours } = command.opts<{ wait?: boolean; colour?: boolean }>();
  expect([seen, colours]).toEqual([wait, colour]);
});

test('one that says neither is refused', () => {
  const options = commandOptions({ flags: { wait: { type: 'boolean', summary: 'wait' } } }).values();
  expect(() => withBareFlags(['--wait=watcher'], options)).toThrow("--wait is true or false, not 'watcher'");
});
