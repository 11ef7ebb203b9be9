import { execFile } from 'node:child_process';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operandOperator } from '@slipway/operand';
import { skipped } from '@slipway/testing';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';

import { call, temporaryFolder } from './kit.ts';

const hasBash = await promisify(execFile)('bash', ['--version']).then(
  () => true,
  () => false,
);

const commands = [
  'up',
  'cluster',
  'run',
  'status',
  'plan',
  'check',
  'install',
  'uninstall',
  'crds',
  'rbac',
  'explain',
  'completion',
  'version',
];

describe('help', () => {
  test('names every command, examples and exit codes', async () => {
    const { code, out } = await call(['--help']);
    expect(code).toBe(0);
    for (const command of commands) expect(out).toMatch(new RegExp(`^  ${command}\\b`, 'm'));
    expect(out).toContain('$ slipway up');
    expect(out).toContain('130 interrupted');
  });

  test.each(commands)('%s --help describes its flags', async (command) => {
    const { code, out } = await call([command, '--help']);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: slipway ${command}`);
    expect(out).toContain('--config <file>');
    expect(out).toContain('--verbose');
  });

  test('fits into the terminal', async () => {
    const { out } = await call(['run', '--help'], { columns: 80 });
    // A flag that is longer than its column is not broken; all text is.
    for (const line of out.split('\n')) if (!line.includes('$ ')) expect(line.length).toBeLessThanOrEqual(80);
  });

  test('without a command it is help, as an error', async () => {
    const { code, err } = await call([]);
    expect(code).toBe(2);
    expect(err).toContain('Usage: slipway');
  });

  test('lists flags of operators with their variables and defaults', async () => {
    const operator = {
      ...operandOperator,
      flags: [{ name: 'pace', description: 'How fast.', default: '5s', type: 'duration' as const }],
    };
    const { out } = await call(['run', 'operand', '--help'], { operators: [operator], columns: 200 });
    expect(out).toMatch(/--pace, --operand-pace <duration>\s+How fast\. \(SLIPWAY_PACE, default: 5s\)/);
  });
});

describe('wrong usage ends with 2 and says what is wrong', () => {
  test.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['up', '--frob'], "unknown option '--frob'"],
    [['up', 'nobody'], "there is no operator 'nobody'"],
    [['up', '--port', 'x'], "--port must be a number from 0 to 65535, not 'x'"],
    [['cluster', '--port', '70000'], "--port must be a number from 0 to 65535, not '70000'"],
    [['run', '--health-port', '-1'], "--health-port must be a number from 0 to 65535, not '-1'"],
    [['run', '--metrics-port', '1e3'], "--metrics-port must be a number from 0 to 65535, not '1e3'"],
    [['run', '--log-level', 'loud'], "argument 'loud' is invalid"],
    [['status', '-o', 'xml'], "argument 'xml' is invalid"],
    [['plan'], "required option '-f, --file <file>' not specified"],
    [['install', '--replicas', '-1'], "--replicas must be a whole number from 0 on, not '-1'"],
    [['install', '--timeout', 'soon'], "--timeout must be a duration such as 90s or 5m, not 'soon'"],
    [['completion', 'tcsh'], "value 'tcsh' is invalid"],
    [['version', 'extra'], 'too many arguments'],
  ])('%j', async (argv, message) => {
    const { code, err, out } = await call(argv);
    expect(err).toContain(message);
    expect(code).toBe(2);
    expect(out).toBe('');
  });

  test('an unknown operator is answered with the known ones', async () => {
    expect((await call(['crds', 'nobody'])).err).toContain('known operators: operand');
  });
});

test('--version prints the version', async () => {
  expect(await call(['--version'])).toEqual({ code: 0, out: '9.9.9\n', err: '' });
});

describe('crds', () => {
  test('prints the definitions of the operators as a YAML stream', async () => {
    const { code, out } = await call(['crds', 'operand']);
    expect(code).toBe(0);
    const names = parseAllDocuments(out).map(
      (document) => (document.toJS() as { metadata: { name: string } }).metadata.name,
    );
    expect(names).toEqual(operandOperator.kinds.map((kind) => `${kind.plural}.${kind.group}`));
  });

  test('--write makes a file of each and names them', async () => {
    await using folder = await temporaryFolder();
    const { code, out } = await call(['crds', '--write', 'crds'], { cwd: folder.path });
    expect(code).toBe(0);
    const files = await readdir(join(folder.path, 'crds'));
    expect(files).toHaveLength(operandOperator.kinds.length);
    for (const file of files) expect(out).toContain(file);
    expect(parse(await readFile(join(folder.path, 'crds', files[0]!), 'utf8'))).toHaveProperty(
      'kind',
      'CustomResourceDefinition',
    );
  });

  test('--write to a place that is no folder is an error with a hint', async () => {
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'occupied'), '');
    const { code, err } = await call(['crds', '--write', 'occupied'], { cwd: folder.path });
    expect(code).toBe(1);
    expect(err).toMatch(/^slipway: cannot write to \S*occupied: .*\n {2}choose another folder with --write DIR\n$/);
  });
});

describe('rbac', () => {
  test('prints one role with exactly what the operator says it needs', async () => {
    const { code, out } = await call(['rbac', 'operand']);
    expect(code).toBe(0);
    const objects = parseAllDocuments(out).map(
      (document) => document.toJS() as { kind: string; metadata: { name: string }; rules?: unknown },
    );
    const role = objects.find((object) => object.kind === 'ClusterRole' && object.metadata.name === 'slipway-operand');
    expect(role?.rules).toEqual(operandOperator.permissions);
    expect(objects.map((object) => object.kind)).toContain('ServiceAccount');
  });

  test('--namespace says where the account is', async () => {
    const { out } = await call(['rbac', '--namespace', 'here']);
    expect(out).toContain('namespace: here');
    expect(out).not.toContain('slipway-system');
  });
});

describe('explain', () => {
  test('says what a reason means and what to do', async () => {
    const { code, out } = await call(['explain', 'waiting']);
    expect(code).toBe(0);
    expect(out).toContain('Waiting  (Operand, Operand)');
    expect(out).toContain('What to do: ');
  });

  test('offers near reasons for an unknown one', async () => {
    const { code, err } = await call(['explain', 'InstalledWrongly']);
    expect(code).toBe(2);
    expect(err).toBe("slipway: no operator gives the reason 'InstalledWrongly'\n  did you mean Installed?\n");
  });

  test('says where reasons are listed when nothing is near', async () => {
    expect((await call(['explain', 'Zzzz'])).err).toContain('slipway explain lists all reasons');
  });
});

describe('completion', () => {
  test.each(['bash', 'zsh', 'fish'])('%s knows commands, flags, operators and reasons', async (shell) => {
    const { code, out } = await call(['completion', shell]);
    expect(code).toBe(0);
    for (const word of ['uninstall', 'leader-elect', 'operand', 'InvalidManifest', 'table', 'wide'])
      expect(out).toContain(word);
  });

  test.skipIf(skipped(!hasBash, 'completion run by bash: there is no bash here'))(
    'bash completes with it',
    async () => {
      const { out } = await call(['completion', 'bash']);
      const complete = async (...words: string[]) => {
        const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _slipway; echo "\${COMPREPLY[*]}"`;
        return (await promisify(execFile)('bash', ['-c', script])).stdout.trim();
      };
      expect(await complete('slipway', 'unin')).toBe('uninstall');
      expect(await complete('slipway', 'run', '--leader-elect')).toBe('--leader-elect --leader-election-namespace');
      expect(await complete('slipway', 'up', 'op')).toBe('operand');
      expect(await complete('slipway', 'status', '-o', 'j')).toBe('json');
    },
  );

  test.each(['bash', 'zsh', 'fish'])('%s reads the script without complaint', async (shell) => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'completion');
    await writeFile(file, (await call(['completion', shell])).out);
    if (await reads(shell, file)) return;
    // The shell is not installed. What zsh is given, bash can parse too; fish is given one plain command a line.
    if (shell === 'zsh') await reads('bash', file);
    if (shell === 'fish') for (const line of (await readFile(file, 'utf8')).split('\n')) expect(line).toMatch(fishLine);
  });

  test('a description with quotes and brackets does no harm in any shell', async () => {
    await using folder = await temporaryFolder();
    const operator = {
      ...operandOperator,
      flags: [{ name: 'owner', description: "The ship's [first] owner: $HOME.", type: 'string' as const }],
    };
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { out } = await call(['completion', shell], { operators: [operator] });
      expect(out).toContain(shell === 'fish' ? '-l owner' : '--owner');
      if (shell === 'fish') for (const line of out.split('\n')) expect(line).toMatch(fishLine);
      else {
        const file = join(folder.path, shell);
        await writeFile(file, out);
        await reads('bash', file);
      }
    }
  });
});

/** Has a shell parse a script. False when there is no such shell here. */
async function reads(shell: string, file: string): Promise<boolean> {
  try {
    await promisify(execFile)(shell, ['-n', file]);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** A comment, or `complete` with words that are plain or quoted. */
const fishLine = /^(#.*|complete( ([\w./:-]+|"[^"$]*"|'([^'\\]|\\.)*'))+|)$/;
