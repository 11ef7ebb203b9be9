import type { CaseGroup } from './case.ts';
import { access } from './cases/access.ts';
import { admission } from './cases/admission.ts';
import { controlling } from './cases/controlling.ts';
import { creation } from './cases/creation.ts';
import { custom } from './cases/custom.ts';
import { declarations } from './cases/declarations.ts';
import { kinds } from './cases/kinds.ts';
import { limits } from './cases/limits.ts';
import { reading } from './cases/reading.ts';
import { watching } from './cases/watching.ts';
import { workloads } from './cases/workloads.ts';
import { writing } from './cases/writing.ts';
import { yaml } from './cases/yaml.ts';
import { startWebhooks } from './webhook-server.ts';

export const groups: readonly CaseGroup[] = [
  { name: 'creation', cases: creation },
  { name: 'reading', cases: reading },
  { name: 'writing', cases: writing },
  { name: 'workloads', cases: workloads },
  { name: 'kinds', cases: kinds },
  { name: 'custom', cases: custom },
  { name: 'declarations', cases: declarations },
  { name: 'limits', cases: limits },
  { name: 'watching', cases: watching },
  { name: 'yaml', cases: yaml },
  { name: 'access', cases: access },
  { name: 'admission', cases: admission, prepare: startWebhooks },
  { name: 'controlling', cases: controlling, controllers: 'workloads' },
];
