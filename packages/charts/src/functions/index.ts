import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { walking } from '../template/signature.ts';
import { cryptoFunctions } from './crypto.ts';
import { dateFunctions } from './dates.ts';
import { dictFunctions } from './dicts.ts';
import { encodingFunctions } from './encoding.ts';
import { flowFunctions } from './flow.ts';
import { listFunctions } from './lists.ts';
import { mathFunctions } from './math.ts';
import { networkFunctions } from './network.ts';
import { pathFunctions } from './paths.ts';
import { reflectionFunctions } from './reflection.ts';
import { regexFunctions } from './regex.ts';
import { semverFunctions } from './semver.ts';
import { stringFunctions } from './strings.ts';
import { templateFunctions } from './templates.ts';

/** What writes, prints, copies or compares whole values. */
const walkers =
  /^(?:must)?(?:to(?:Yaml|YamlPretty|Json|PrettyJson|RawJson|Toml|String|Strings)|deepCopy|deepEqual|merge|mergeOverwrite|quote|squote|cat|join|has|uniq|without)$/i;

const functions: FunctionTable = new Map<string, TemplateFunction>([
  ...stringFunctions,
  ...mathFunctions,
  ...listFunctions,
  ...dictFunctions,
  ...flowFunctions,
  ...reflectionFunctions,
  ...regexFunctions,
  ...pathFunctions,
  ...encodingFunctions,
  ...semverFunctions,
  ...networkFunctions,
  ...dateFunctions,
  ...cryptoFunctions,
  ...templateFunctions,
]);

/** Every function a Helm chart can call besides Go's own: sprig's without those that read the machine, and Helm's. */
export const helmFunctions: FunctionTable = new Map(
  [...functions].map(([name, called]) => [name, walkers.test(name) ? walking(called) : called]),
);
