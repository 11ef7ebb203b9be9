import { CommandError, exitCodes, pluralOf } from '@slipway/kube';

/** The forms of a kind's name that stand in a project. */
export interface KindNames {
  /** `BackupPlan` */
  readonly kind: string;
  /** `backupPlan`, in identifiers. */
  readonly camel: string;
  /** `backup-plan`, in names of files and objects. */
  readonly kebab: string;
  /** `backupplans`, as the API server calls it. */
  readonly plural: string;
}

export function kindNames(kind: string): KindNames {
  if (!/^[A-Z][A-Za-z0-9]{0,40}$/.test(kind))
    throw wrong(`'${kind}' cannot be the name of a kind`, 'a kind is one CamelCase word, such as BackupPlan');
  const words = kind.replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3-$2');
  return { kind, camel: camelOf(words), kebab: words.toLowerCase(), plural: pluralOf(kind) };
}

/** The first word small, whatever it is made of: `DNSRecord` gives `dnsRecord`. */
function camelOf(words: string): string {
  const [first = '', ...others] = words.split('-');
  return first.toLowerCase() + others.join('');
}

/** The name of a project: of its package, its image and its operator. */
export function checkProjectName(name: string): string {
  if (/^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$/.test(name)) return name;
  throw wrong(
    `'${name}' cannot be the name of an operator`,
    'it has lower-case letters, digits and dashes, begins with a letter, and is at most 40 long: my-operator',
  );
}

export function checkGroup(group: string): string {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/.test(group)) return group;
  throw wrong(`'${group}' cannot be the group of kinds`, 'a group is a domain you own, such as example.org');
}

/** `My Operator` */
export function titleOf(project: string): string {
  return project.replaceAll(
    /(^|-)(.)/g,
    (_all, dash: string, letter: string) => (dash ? ' ' : '') + letter.toUpperCase(),
  );
}

export function wrong(message: string, hint: string): CommandError {
  return new CommandError(message, { hint, exitCode: exitCodes.usage });
}
