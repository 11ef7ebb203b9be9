import type { Authorization } from '../../api/components.ts';
import type { FieldError, Projection } from '../projection.ts';

const rbacGroup = 'rbac.authorization.k8s.io';

type Subject = Authorization['spec']['roleBindings'][number]['subjects'][number];

export const authorizationProjection: Projection = {
  isConfigured: ({ mcp }) => mcp.spec?.authorization !== undefined,
  spec: ({ mcp }) => ({
    roleBindings: mcp.spec!.authorization!.roleBindings.map((binding) => ({
      ...binding,
      subjects: binding.subjects.map((subject) =>
        subject.kind === 'ServiceAccount' || subject.apiGroup ? subject : { ...subject, apiGroup: rbacGroup },
      ),
    })),
  }),
  validate: (spec) =>
    (spec as Authorization['spec']).roleBindings.flatMap(({ role, subjects }, index) => {
      const at = `roleBindings[${index}]`;
      const known = role === 'admin' || role === 'view';
      return [
        ...(known ? [] : [{ field: `${at}.role`, message: `Unsupported value: "${String(role)}"` }]),
        ...subjects.flatMap((subject, position) => subjectErrors(subject, `${at}.subjects[${position}]`)),
      ];
    }),
  statusField: 'authorization',
};

function subjectErrors(subject: Subject, at: string): FieldError[] {
  const problems: FieldError[] = [];
  if (!subject.name) problems.push({ field: `${at}.name`, message: 'Required value' });
  switch (subject.kind) {
    case 'ServiceAccount':
      if (!subject.namespace) problems.push({ field: `${at}.namespace`, message: 'Required value' });
      break;
    case 'User':
    case 'Group':
      if (subject.apiGroup !== rbacGroup) {
        problems.push({
          field: `${at}.apiGroup`,
          message: `Unsupported value: "${subject.apiGroup}", supported: "${rbacGroup}"`,
        });
      }
      break;
    default:
      problems.push({ field: `${at}.kind`, message: `Unsupported value: "${String(subject.kind)}"` });
  }
  return problems;
}
