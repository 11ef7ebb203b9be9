import type { CheckRun, Finding } from './finding.ts';

/** Rules in definitions are enforced from 1.25 on; admission policies are stable from 1.30 on. */
const oldest = { rules: 25, policies: 30 } as const;

/** Whether the server is new enough for what the operators bring. That it answers has been seen before. */
export async function checkServer({ client, operators, signal }: CheckRun): Promise<Finding[]> {
  const { gitVersion, major, minor } = await client.serverVersion({ signal });
  const hasPolicies = operators.some(({ policies }) => (policies ?? []).length > 0);
  const needed = hasPolicies ? oldest.policies : oldest.rules;
  const isEnough = Number(major) > 1 || Number.parseInt(minor, 10) >= needed;
  const server = { subject: 'server', message: `Kubernetes ${gitVersion} answers` };
  if (isEnough) return [{ verdict: 'ok', ...server }];
  return [
    {
      verdict: 'problem',
      subject: 'server',
      message: `Kubernetes ${gitVersion} is older than 1.${needed}`,
      next: `upgrade the cluster${hasPolicies ? ', or name operators without admission policies' : ''}`,
    },
  ];
}
