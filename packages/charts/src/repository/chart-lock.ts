import { createHash } from 'node:crypto';

import type { Chart, ChartDependency } from '../chart/chart.ts';
import { isMap, type GoMap, type Value } from '../go/values.ts';
import { writeYaml } from '../yaml/write.ts';

/** A dependency with its range come to one version. */
export interface LockedDependency {
  readonly name: string;
  readonly version: string;
  readonly repository: string;
}

/** Chart.lock. */
export interface ChartLock {
  readonly dependencies: readonly LockedDependency[];
  /** `sha256:…` of what Chart.yaml asks for and what it came to. */
  readonly digest: string;
}

/** The lock of a chart; `undefined` when it has none. */
export function lockOf({ lock }: Chart): ChartLock | undefined {
  if (!lock) return undefined;
  const dependencies = lock.get('dependencies');
  return {
    dependencies: (Array.isArray(dependencies) ? dependencies : []).filter(isMap).map((each) => ({
      name: textOf(each, 'name'),
      version: textOf(each, 'version'),
      repository: textOf(each, 'repository'),
    })),
    digest: textOf(lock, 'digest'),
  };
}

/** The digest Helm computes: of the JSON it would write, field by field in the order of its own types. */
export function lockDigest(asked: readonly ChartDependency[], locked: readonly LockedDependency[]): string {
  return digestOf([asked.map(asJson), locked.map(asJson)]);
}

/** The digest of Helm 2, which charts of `apiVersion: v1` may still carry. */
export function oldLockDigest(asked: readonly ChartDependency[]): string {
  return digestOf({ dependencies: asked.map(asJson) });
}

/** Chart.lock as Helm writes it. */
export function lockText({ dependencies, digest }: ChartLock, generated: string): string {
  return writeYaml(
    new Map<string, Value>([
      [
        'dependencies',
        dependencies.map(
          ({ name, version, repository }) =>
            new Map<string, Value>([
              ['name', name],
              ['repository', repository],
              ...(version === '' ? [] : [['version', version] as [string, Value]]),
            ]),
        ),
      ],
      ['digest', digest],
      ['generated', generated],
    ]),
  );
}

function asJson(dependency: LockedDependency & Partial<ChartDependency>): Record<string, unknown> {
  const { name, version, repository, condition = '', tags = [], importValues = [], alias = '' } = dependency;
  return {
    name,
    ...(version === '' ? {} : { version }),
    repository,
    ...(condition === '' ? {} : { condition }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(importValues.length === 0 ? {} : { 'import-values': importValues }),
    ...(alias === '' ? {} : { alias }),
  };
}

function digestOf(value: unknown): string {
  // Go's encoder escapes what could end a script in a page.
  const json = JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return `sha256:${createHash('sha256').update(json).digest('hex')}`;
}

function textOf(map: GoMap, key: string): string {
  const value = map.get(key);
  return typeof value === 'string' ? value : '';
}
