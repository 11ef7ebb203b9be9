import {
  CustomResourceDefinition,
  findCondition,
  isConditionTrue,
  isForbidden,
  toCustomResourceDefinition,
  type DefinedKind,
} from '@slipway/kube';
import { diffObjects } from '@slipway/manifests';
import type { OperatorDescription } from '@slipway/runtime';

import { definitionOwner } from './definition-owner.ts';
import type { CheckRun, Finding } from './finding.ts';

/** Whether the definitions are there, served, of this version, and whose they are. */
export async function checkDefinitions(run: CheckRun): Promise<Finding[]> {
  const kinds = run.operators.flatMap((operator) => operator.kinds.map((kind) => ({ operator, kind })));
  return await Promise.all(kinds.map(({ operator, kind }) => checkDefinition(run, operator, kind)));
}

async function checkDefinition(
  { client, packageFlag, signal }: CheckRun,
  operator: OperatorDescription,
  kind: DefinedKind,
): Promise<Finding> {
  const wanted = toCustomResourceDefinition(kind);
  const name = wanted.metadata.name!;
  const subject = `definition ${name}`;
  const install = `slipway install ${operator.name}${packageFlag(operator)}`;
  try {
    const live = await client.get(CustomResourceDefinition, { name }, { signal });
    if (!live)
      return {
        verdict: 'note',
        subject,
        message: 'it is not installed',
        next: `${install} puts it there`,
      };
    const owner = definitionOwner(live);
    const names = findCondition(live, 'NamesAccepted');
    if (names?.status === 'False')
      return {
        verdict: 'problem',
        subject,
        message: `it is not served: ${names.message ?? names.reason ?? 'its names are taken'}`,
        next: `remove the definition that has the names, or this one, which is ${owner.text}`,
      };
    if (!isConditionTrue(live, 'Established'))
      return {
        verdict: 'problem',
        subject,
        message: 'it is not served yet',
        next: `kubectl describe crd ${name} says why`,
      };
    const lost = (live.status?.storedVersions ?? []).filter(
      (version) => !wanted.spec.versions.some((each) => each.name === version),
    );
    if (lost.length > 0)
      return {
        verdict: 'problem',
        subject,
        message: `objects are stored as ${lost.join(', ')}, which this version does not know`,
        next: 'this command is older than what is installed: use the newer one',
      };
    const changes = diffObjects(
      live,
      await client.apply(wanted, { fieldManager: 'slipway', force: true, dryRun: true, signal }),
    );
    const fields = changes.filter(({ path }) => path.startsWith('spec'));
    if (owner.isForeign)
      return {
        verdict: fields.length > 0 ? 'problem' : 'note',
        subject,
        message: `it is ${owner.text}${fields.length > 0 ? ' and differs from the one of this version' : ''}`,
        next: owner.next,
      };
    if (fields.length === 0) return { verdict: 'ok', subject, message: `it is served, of this version, ${owner.text}` };
    const paths = fields.length === 1 ? fields[0]!.path : `${fields[0]!.path} and ${fields.length - 1} more fields`;
    return {
      verdict: 'note',
      subject,
      message: `it is of another version (${paths}), ${owner.text}`,
      next: `${install} brings it up to date`,
    };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return { verdict: 'problem', subject, message: 'you may not look at it', next: 'use a --context with more rights' };
  }
}
