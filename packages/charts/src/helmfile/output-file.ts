import { Struct } from '../go/struct.ts';
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { TemplateSet } from '../template/template-set.ts';
import { environmentStruct } from './environment.ts';
import { HelmfileError } from './helmfile-error.ts';
import type { HelmfileRelease } from './release.ts';

const usual = '{{ .State.BaseName }}-{{ .State.AbsPathSHA1 }}/{{ .Release.Name }}.yaml';

/** Where `write-values` writes a release's values: a template over `.Release`, `.State` and `.Environment`. */
export function outputFile(release: HelmfileRelease, cwd: string, template: string = usual): string {
  const { state, name, namespace, chart, version, labels } = release;
  const data = new Struct('output', {
    State: new Struct('state', {
      BaseName: state.file.replace(/\.[^./]*$/, ''),
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
    set.add('output-file', template);
    return resolve(cwd, set.execute('output-file', data));
  } catch (error) {
    throw new HelmfileError('TemplateFailed', `output file template: ${(error as Error).message}`, { cause: error });
  }
}
