import { helmFunctions, makeEnvironment, TemplateSet } from '@slipway/charts';

import { expandStar, type SecretRule } from '../values/secret-paths.ts';
import { isEmpty, setAt, type Tree, valueAt } from '../values/tree.ts';

/** A value for every secret place: the one that is there, or a new one from its template. Only secret places are in the result. */
export function generateSecrets(rules: readonly SecretRule[], input: Tree): Tree {
  const secrets: Tree = {};
  const templates = new TemplateSet({ functions: helmFunctions, environment: makeEnvironment() });
  for (const { path, template } of rules) {
    if (template !== '') templates.add(path.join('.'), template);
    for (const place of expandStar(path, input)) {
      const present = valueAt(input, place);
      if (!isEmpty(present)) setAt(secrets, place, present);
      else if (template !== '') setAt(secrets, place, templates.execute(path.join('.'), new Map()));
    }
  }
  return secrets;
}
