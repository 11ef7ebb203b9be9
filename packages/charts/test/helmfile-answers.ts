import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock, type Command } from '@slipway/kube';
import { CommandError } from '@slipway/kube/command';
import { callCommand } from '@slipway/testing/command';

import { command } from '../src/command/helmfile-command.ts';
import type { HelmfileRule } from './helmfile-rules.ts';
import { ProgramFailed, variables, type RealHelmfile } from './real-helmfile.ts';

/** A chart that shows its values. */
const showing = {
  'chart/Chart.yaml': 'apiVersion: v2\nname: chart\nversion: 1.0.0\n',
  'chart/templates/values.yaml': `apiVersion: v1
kind: ConfigMap
metadata: { name: "{{ .Release.Name }}", namespace: "{{ .Release.Namespace }}" }
data:
  values: {{ .Values | toJson | quote }}
`,
};

/** Writes the files of a rule into a folder of their own below `scratch`. */
export function writeTree(rule: HelmfileRule, scratch: string): string {
  const folder = mkdtempSync(join(scratch, 'rule-'));
  for (const [name, text] of Object.entries({ ...showing, ...rule.files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** helmfile writes the paths of files as it came to them, and where it works on a copy of a chart. */
export function withoutDirectories(text: string): string {
  return text
    .replaceAll(/^( *)(#  Source|filepath|- path): .*\/(?=[^/]+$)/gm, '$1$2: ')
    .replaceAll(/^ *chartPath: .*\n/gm, '');
}

/** What each command answers, and what `write-values` writes; `refused` where it fails in a way it should. */
async function answersOf(
  written: string,
  ask: (name: string) => string | Promise<string>,
): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const name of ['list', 'build', 'write-values', 'template']) {
    try {
      const text = withoutDirectories(await ask(name));
      answers[name] = name === 'list' ? (JSON.parse(text) ?? []) : text;
    } catch (error) {
      if (!(error instanceof CommandError || error instanceof ProgramFailed)) throw error;
      answers[name] = 'refused';
    }
  }
  // What it wrote before it failed says nothing: we write no values while some are wrong.
  const files = answers['write-values'] !== 'refused' && existsSync(written) ? readdirSync(written) : [];
  return { ...answers, values: files.map((file) => [file, readFileSync(join(written, file), 'utf8')]) };
}

const valuesFile = '{{ .Release.Namespace }}-{{ .Release.Name }}.yaml';

export async function theirAnswers(
  rule: HelmfileRule,
  folder: string,
  helmfile: RealHelmfile,
): Promise<Record<string, unknown>> {
  const flags = [
    `--environment=${rule.environment ?? 'default'}`,
    ...(rule.selectors ?? []).flatMap((selector) => ['--selector', selector]),
    ...(rule.stateValuesFiles ?? []).flatMap((file) => ['--state-values-file', file]),
    ...(rule.stateValuesSet ?? []).flatMap((text) => ['--state-values-set', text]),
    ...(rule.stateValuesSetString ?? []).flatMap((text) => ['--state-values-set-string', text]),
  ];
  const written = join(folder, 'theirs');
  const own: Record<string, string[]> = {
    list: ['--output', 'json'],
    template: ['--skip-deps', ...(rule.includeNeeds ? ['--include-needs'] : [])],
    'write-values': ['--output-file-template', join(written, valuesFile)],
  };
  const where = { home: dirname(folder), cwd: folder };
  return await answersOf(written, (name) => helmfile.run([...flags, name, ...(own[name] ?? [])], where));
}

export async function ourAnswers(rule: HelmfileRule, folder: string): Promise<Record<string, unknown>> {
  const flags = {
    environment: rule.environment ?? 'default',
    selector: rule.selectors ?? [],
    'state-values-file': rule.stateValuesFiles ?? [],
    'state-values-set': rule.stateValuesSet ?? [],
    'state-values-set-string': rule.stateValuesSetString ?? [],
  };
  const written = join(folder, 'ours');
  const own: Record<string, object> = {
    list: { output: 'json' },
    template: { 'include-needs': rule.includeNeeds ?? false },
    'write-values': { 'output-file-template': join(written, valuesFile) },
  };
  const place = { cwd: folder, clock: systemClock, env: { ...variables, HOME: dirname(folder) } };
  return await answersOf(
    written,
    async (name) => (await callCommand(command as Command, name, [], { ...flags, ...own[name] }, place)).out,
  );
}
