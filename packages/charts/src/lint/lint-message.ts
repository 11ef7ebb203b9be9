/** How bad it is, in Helm's words. */
export type Severity = 'INFO' | 'WARNING' | 'ERROR';

/** Something a chart does wrong, or might do better. */
export interface LintMessage {
  readonly severity: Severity;
  /** The file it is about, as Helm names it. */
  readonly path: string;
  readonly text: string;
}

/** Collects what rules find. */
export class Findings {
  readonly messages: LintMessage[] = [];

  /** Notes a complaint, if there is one. Answers whether there was none. */
  note(severity: Severity, path: string, complaint: string | undefined): boolean {
    if (complaint !== undefined) this.messages.push({ severity, path, text: complaint });
    return complaint === undefined;
  }
}
