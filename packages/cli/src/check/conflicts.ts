import {
  Deployment,
  isForbidden,
  isNotFound,
  isUnknownKind,
  Lease,
  type DeepReadonly,
  type KubeObject,
} from '@slipway/kube';
import type { OperatorDescription } from '@slipway/runtime';

import { componentLabel, imageName, ownVersion, versionLabel, workloadName } from '../install-objects.ts';
import { isOwnImage } from '../pod-settings.ts';
import { ageText } from '../view/table.ts';
import { managerName } from '../webhooks.ts';
import type { CheckRun, Finding } from './finding.ts';

/** Whoever else is at work on the same kinds: other installations, holders of leases, writers of status. */
export async function findConflicts(run: CheckRun): Promise<Finding[]> {
  const findings = [...(await installations(run)), ...(await leaseHolders(run)), ...(await otherWriters(run))];
  const isQuiet = findings.every(({ verdict }) => verdict !== 'problem');
  return isQuiet
    ? [...findings, { verdict: 'ok', subject: 'conflicts', message: 'nobody else manages these kinds' }]
    : findings;
}

/** Deployments of Slipway, from this command, the chart or plain files. Two for one operator would take turns. */
async function installations({ client, operators, packageOf, signal, ...run }: CheckRun): Promise<Finding[]> {
  const labelSelector = 'app.kubernetes.io/name=slipway';
  const deployments = await readable(() => Array.fromAsync(client.list(Deployment, { labelSelector, signal })));
  return operators.flatMap((operator): Finding[] => {
    const own = deployments.filter(({ metadata }) => metadata.labels?.[componentLabel] === operator.name);
    const subject = `installation of ${operator.name}`;
    const places = own.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    if (own.length > 1)
      return [
        {
          verdict: 'problem',
          subject,
          message: `it is there ${own.length} times: ${places.join(', ')}`,
          next: 'keep one; uninstall the others the way they came (helm uninstall, slipway uninstall)',
        },
      ];
    const [only] = own;
    if (!only) return [];
    const outside = packageOf(operator);
    const version = ownVersion(outside, run.version);
    const found = only.metadata.labels?.[versionLabel] ?? 'unknown';
    const image = only.spec?.template.spec?.containers[0]?.image;
    const isKept = image !== undefined && !isOwnImage(image, imageName(outside));
    const by =
      only.metadata.labels?.['app.kubernetes.io/managed-by'] === 'Helm'
        ? 'helm upgrade'
        : `slipway install ${operator.name}${run.packageFlag(operator)}${isKept ? ' --image NAME' : ''}`;
    if (found === version) return [{ verdict: 'ok', subject, message: `${places[0]} is of this version, ${version}` }];
    return [
      {
        verdict: 'note',
        subject,
        message: `${places[0]} is of version ${found}, this is ${version}`,
        next: `${by} brings it to this version`,
      },
    ];
  });
}

/** Who leads by a lease of an operator. Two of them at a time lead by different leases: nothing keeps them apart. */
async function leaseHolders({ client, operators, clock, signal }: CheckRun): Promise<Finding[]> {
  const leases = await readable(() => Array.fromAsync(client.list(Lease, { signal })));
  const held = leases.filter(({ spec }) => {
    const renewed = Date.parse(String(spec?.renewTime ?? ''));
    return Boolean(spec?.holderIdentity) && clock.now() - renewed < (spec?.leaseDurationSeconds ?? 0) * 1000;
  });
  return operators.flatMap((operator): Finding[] => {
    const names = new Set([workloadName(operator), managerName([operator]), 'slipway']);
    const own = held.filter(({ metadata }) => names.has(metadata.name!));
    if (own.length === 0) return [];
    const holders = own.map(
      ({ metadata, spec }) =>
        `${spec!.holderIdentity} by ${metadata.namespace}/${metadata.name}, renewed ${ageText(Date.parse(String(spec!.renewTime)), clock.now())} ago`,
    );
    const subject = `leader of ${operator.name}`;
    if (own.length === 1) return [{ verdict: 'ok', subject, message: holders[0]! }];
    return [
      {
        verdict: 'problem',
        subject,
        message: `there are ${own.length}: ${holders.join('; ')}`,
        next: 'stop all but one: leases in different namespaces or of different names do not exclude each other',
      },
    ];
  });
}

/** Objects looked at of each kind. */
const looked = 100;

/** Somebody whose field manager is none of ours writes the status of our kinds: another operator for them is at work. */
async function otherWriters({ client, operators, signal }: CheckRun): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const operator of operators) {
    for (const kind of operator.kinds) {
      const objects = await readable(async () => (await client.listPage(kind, { limit: looked, signal })).items);
      const foreign = objects.flatMap((object) =>
        statusWriters(object, operator).map((manager) => ({ manager, object })),
      );
      const [first] = foreign;
      if (!first) continue;
      findings.push({
        verdict: 'problem',
        subject: `${kind.kind} ${first.object.metadata.name}`,
        message: `its status is written by ${first.manager}, which is not ${operator.title}`,
        next: 'stop the other operator of this kind before this one runs',
      });
    }
  }
  return findings;
}

function statusWriters(
  { metadata }: DeepReadonly<Pick<KubeObject, 'metadata'>>,
  { name }: OperatorDescription,
): string[] {
  const writers = (metadata.managedFields ?? []).filter(({ subresource }) => subresource === 'status');
  return writers
    .map(({ manager = '' }) => manager)
    .filter((manager) => !manager.startsWith('slipway') && !manager.startsWith(name) && manager !== '');
}

/** What may not be seen, or is not there, is no conflict that could be told. Lacking rights are told elsewhere. */
async function readable<T>(read: () => Promise<T[]>): Promise<T[]> {
  try {
    return await read();
  } catch (error) {
    if (isForbidden(error) || isNotFound(error) || isUnknownKind(error)) return [];
    throw error;
  }
}
