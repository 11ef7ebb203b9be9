import { Struct } from '../go/struct.ts';
import { createHash } from 'node:crypto';
import { parse, resolve } from 'node:path';
import { TemplateSet } from '../template/template-set.ts';
import { environmentStruct } from './environment.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { HelmfileRelease } from './release.ts';

/** Where `write-values` writes a release's values: a template over `.Release`, `.State` and `.Environment`. */
export function outputFile(release: HelmfileRelease, cwd: string, template?: string): string {
  const usual = '{{ .State.BaseName }}-{{ .State.AbsPathSHA1 }}/{{ .Release.Name }}.yaml';
  return template === undefined
    ? resolve(release.state.directory, pathOf(release, usual, 'output-file'))
    : resolve(cwd, pathOf(release, template, 'output-file'));
}

/** Where `template` writes a release's manifests: the same, with `.OutputDir`. */
export function outputFolder(release: HelmfileRelease, folder: string, template?: string): string {
  const usual = '{{ .OutputDir }}/{{ .State.BaseName }}-{{ .State.AbsPathSHA1 }}-{{ .Release.Name }}';
  return pathOf(release, template ?? usual, 'output-dir', folder);
}

function pathOf(release: HelmfileRelease, template: string, what: 'output-file' | 'output-dir', folder = ''): string {
  const { state, name, namespace, chart, version, labels } = release;
  const data = new Struct('output', {
    OutputDir: folder,
    State: new Struct('state', {
      BaseName: parse(state.file).name,
      Path: state.file,
      AbsPath: state.file,
      AbsPathSHA1: createHash('sha1').update(state.file).digest('hex').slice(0, 8),
    }),
    Release: new Struct('state.ReleaseSpec', {
      Name: name,
      Namespace: namespace,
      Chart: chart,
      Version: version,
      Labels: new Map(labels),
    }),
    Environment: environmentStruct(state.environment),
  });
  const set = new TemplateSet();
  try {
    set.add(what, template);
    return set.execute(what, data);
  } catch (error) {
    throw new HelmfileError('TemplateFailed', `--${what}-template: ${(error as Error).message}`, {
      cause: error,
      hint: 'it may use .Release, .State and .Environment',
    });
  }
}
