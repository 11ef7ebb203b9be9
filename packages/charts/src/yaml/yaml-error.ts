/** Text that is no YAML, or YAML that has no JSON form. */
export class YamlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'YamlError';
  }
}
