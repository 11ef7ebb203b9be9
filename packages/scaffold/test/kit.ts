import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { OperatorDescription } from '@slipway/runtime';

import { runCreate } from '../src/index.ts';

const installed = resolve(import.meta.dirname, '..', '..', '..', 'node_modules');

export interface Called {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** An empty folder outside the repository, in which projects begin. */
export interface Workshop extends AsyncDisposable {
  readonly path: string;
  /** `npm create slipway …` */
  create(...argv: string[]): Promise<Called>;
  /** A project with what it depends on, as after `npm install`. Returns its folder. */
  project(name: string, ...argv: string[]): Promise<string>;
}

export async function workshop(): Promise<Workshop> {
  const path = await mkdtemp(join(tmpdir(), 'slipway-scaffold-'));
  const create = async (...argv: string[]): Promise<Called> => {
    const said = { out: '', err: '' };
    const terminal = {
      out: (text: string) => void (said.out += text),
      err: (text: string) => void (said.err += text),
      cwd: path,
    };
    return { code: await runCreate(argv, terminal), ...said };
  };
  return {
    path,
    create,
    async project(name, ...argv) {
      const { code, err } = await create(name, ...argv);
      if (code !== 0) throw new Error(err);
      await symlink(installed, join(path, name, 'node_modules'));
      return join(path, name);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/** The operator of a project, as `slipway run --operator` loads it. */
export async function operatorOf(project: string): Promise<OperatorDescription> {
  const module = (await import(pathToFileURL(join(project, 'src', 'index.ts')).href)) as {
    operator: OperatorDescription;
  };
  return module.operator;
}
