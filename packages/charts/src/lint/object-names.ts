import { quote } from '../go/quote.ts';

const subdomain = {
  most: 253,
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  wanted:
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
};
const label = {
  most: 63,
  pattern: /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
  wanted:
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
};
const oldLabel = {
  most: 63,
  pattern: /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  wanted:
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
};

/** What Kubernetes has against the name of an object. */
export function nameComplaint(kind: string, name: string): string | undefined {
  const faults = faultsOf(kind.toLowerCase(), name).map(
    (fault) => `metadata.name: Invalid value: ${quote(name)}: ${fault}`,
  );
  if (faults.length === 0) return undefined;
  const text = faults.length === 1 ? faults[0]! : `[${faults.join(', ')}]`;
  return `object name does not conform to Kubernetes naming requirements: ${quote(name)}: ${text}`;
}

function faultsOf(kind: string, name: string): string[] {
  switch (kind) {
    case 'certificatesigningrequest':
      return [];
    case 'role':
    case 'clusterrole':
    case 'rolebinding':
    case 'clusterrolebinding':
      if (name === '.' || name === '..') return [`may not be '${name}'`];
      return ['/', '%'].filter((mark) => name.includes(mark)).map((mark) => `may not contain '${mark}'`);
    case 'service':
      return against(oldLabel, name);
    case 'namespace':
      return against(label, name).map((fault) =>
        fault === label.wanted && subdomain.pattern.test(name) ? 'must not contain dots' : fault,
      );
    default:
      return against(subdomain, name);
  }
}

function against({ most, pattern, wanted }: typeof label, name: string): string[] {
  return [
    ...(name.length > most ? [`must be no more than ${most} characters`] : []),
    ...(pattern.test(name) ? [] : [wanted]),
  ];
}
