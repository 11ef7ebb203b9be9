import type { FunctionTable, TemplateFunction } from '../template/run.ts';
import { fn } from '../template/signature.ts';
import { parseConstraint } from './semver-constraint.ts';
import { SemverVersion } from './semver-version.ts';

export const semverFunctions: FunctionTable = new Map<string, TemplateFunction>([
  ['semver', fn(['string'], (version) => SemverVersion.parse(version))],
  [
    'semverCompare',
    fn(['string', 'string'], (constraint, version) => {
      const range = parseConstraint(constraint);
      return range.check(SemverVersion.parse(version));
    }),
  ],
]);
