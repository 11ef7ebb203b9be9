import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';

import { findCommands, findOperators, findPackages } from '../src/packages.ts';
import { runSlipway } from '../src/program.ts';
import { servedCluster, temporaryFolder, terminalFor } from './kit.ts';

const kube = pathToFileURL(join(import.meta.dirname, '..', '..', 'kube', 'src', 'index.ts')).href;

/** A package that brings a command with a subcommand, and an operator; `heavy` cannot even be read. */
const manifest = {
  name: '@example/harbour',
  exports: { '.': './src/index.ts' },
  slipway: {
    operator: 'harbourOperator',
    commands: {
      crane: { summary: 'lifts things', module: './crane.ts' },
      heavy: { summary: 'takes long to read', module: './heavy.ts' },
    },
  },
};
const crane = `
import { CommandError, defineCommand } from '${kube}';
const lift = defineCommand({
  arguments: [{ name: 'thing', required: true, summary: 'what to lift' }],
  flags: {
    height: { type: 'integer', least: 1, most: 9, default: 3, summary: 'how high' },
    within: { type: 'duration', summary: 'how fast' },
    with: { type: 'string', repeated: true, summary: 'with what' },
    colour: { type: 'string', choices: ['red', 'blue'], summary: 'of the crane' },
    'dry-run': { type: 'boolean', summary: 'only say so' },
    wait: { type: 'boolean', default: true, summary: 'do not wait' },
  },
  examples: [{ line: 'slipway crane lift box' }],
  run({ terminal, args, flags }) {
    if (args[0] === 'ship') throw new CommandError('a ship is too heavy', { hint: 'try a box', exitCode: 7 });
    terminal.out(JSON.stringify({ args, flags }));
    return args[0] === 'nothing' ? 9 : undefined;
  },
});
const namespaces = defineCommand({
  connection: true,
  async run({ terminal, connect }) {
    await using cluster = await connect();
    terminal.out(\`\${cluster.namespace} of \${cluster.origin}\`);
  },
});
export const command = defineCommand({
  subcommands: {
    lift: { summary: 'lifts one', command: lift },
    where: { summary: 'says where', command: namespaces },
  },
});
`;

async function harbour() {
  const folder = await temporaryFolder();
  const home = join(folder.path, 'harbour');
  await mkdir(join(home, 'src'), { recursive: true });
  await writeFile(join(home, 'package.json'), JSON.stringify(manifest));
  await writeFile(join(home, 'src', 'index.ts'), "export const harbourOperator = { name: 'harbour', reasons: [] };");
  await writeFile(join(home, 'crane.ts'), crane);
  await writeFile(join(home, 'heavy.ts'), "throw new Error('somebody read this');");
  const commands = await findCommands(folder.path);
  const slipway = async (...argv: string[]) => {
    let out = '';
    let err = '';
    const terminal = {
      ...terminalFor(),
      out: (text: string) => void (out += text),
      err: (text: string) => void (err += text),
    };
    const installation = { terminal, version: '1.2.3', commands, operators: () => findOperators(folder.path) };
    return { code: await runSlipway(argv, installation), out, err };
  };
  return { path: folder.path, slipway, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
}

describe('a package brings its operator and its commands by its package.json', () => {
  test('both are found, without a line in the command', async () => {
    await using found = await harbour();
    expect((await findPackages(found.path)).map(({ name }) => name)).toEqual(['@example/harbour']);
    expect((await findOperators(found.path)).map(({ name }) => name)).toEqual(['harbour']);
    expect((await found.slipway('--help')).out).toMatch(/^ {2}crane {2,}lifts things$/m);
  });

  test('help and other commands read no command that is not called', async () => {
    await using found = await harbour();
    expect((await found.slipway('--help')).out).toContain('takes long to read');
    expect((await found.slipway('crane', 'lift', 'box')).code).toBe(0);
    expect((await found.slipway('heavy')).err).toContain('somebody read this');
  });

  test('a subcommand has its arguments, flags and examples in its help', async () => {
    await using found = await harbour();
    expect((await found.slipway('crane', '--help')).out).toMatch(/^ {2}lift .*lifts one$/m);
    const { out } = await found.slipway('crane', 'lift', '--help');
    for (const text of ['<thing>', '--height <integer>', '--no-wait', '$ slipway crane lift box', '--config <file>'])
      expect(out).toContain(text);
  });

  test('flags arrive typed, with their defaults', async () => {
    await using found = await harbour();
    const plain = JSON.parse((await found.slipway('crane', 'lift', 'box')).out) as unknown;
    expect(plain).toEqual({ args: ['box'], flags: { height: 3, with: [], 'dry-run': false, wait: true } });
    const argv = ['--height', '5', '--within', '90s', '--with', 'rope', '--with', 'hook', '--dry-run', '--no-wait'];
    const given = JSON.parse((await found.slipway('crane', 'lift', 'box', ...argv, '--colour', 'red')).out) as unknown;
    expect(given).toEqual({
      args: ['box'],
      flags: { height: 5, within: 90_000, with: ['rope', 'hook'], colour: 'red', 'dry-run': true, wait: false },
    });
  });

  test('wrong usage ends with 2, an error of its own as it says, a number is the exit code', async () => {
    await using found = await harbour();
    expect(await found.slipway('crane', 'lift', 'box', '--height', '10')).toMatchObject({
      code: 2,
      err: "slipway: --height must be a number from 1 to 9, not '10'\n  slipway crane lift --help lists its flags\n",
    });
    expect((await found.slipway('crane', 'lift')).code).toBe(2);
    expect((await found.slipway('crane', 'lift', 'box', '--colour', 'green')).code).toBe(2);
    expect(await found.slipway('crane', 'lift', 'ship')).toMatchObject({
      code: 7,
      err: 'slipway: a ship is too heavy\n  try a box\n',
    });
    expect((await found.slipway('crane', 'lift', 'nothing')).code).toBe(9);
  });

  test('a command that works on a cluster gets the one of --kubeconfig', async () => {
    await using found = await harbour();
    await using cluster = await servedCluster();
    const { out } = await found.slipway('crane', 'where', '--kubeconfig', cluster.kubeconfig);
    expect(out).toContain(`default of ${cluster.kubeconfig}`);
    expect((await found.slipway('crane', 'where', '--kubeconfig', join(found.path, 'none'))).code).toBe(3);
  });

  test('a package that names what it does not export is named', async () => {
    await using found = await harbour();
    await writeFile(join(found.path, 'harbour', 'src', 'index.ts'), 'export {};');
    await expect(findOperators(found.path)).rejects.toThrow(
      '@example/harbour: its package.json names harbourOperator, which it does not export',
    );
  });
});

test('every command of this repository can be read and declares something to do', async () => {
  for (const { name, summary, load } of await findCommands()) {
    const command = await load();
    expect({ name, does: command.run !== undefined || command.subcommands !== undefined }).toEqual({
      name,
      does: true,
    });
    expect(summary).not.toBe('');
  }
});
