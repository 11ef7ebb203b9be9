import { Help, type HelpConfiguration } from 'commander';

/** Room for the names of flags. The two names of an operator's flag are longer, and stand on a line of their own. */
const widestColumn = 36;

/** How `--help` is laid out: two columns that fit the terminal however long a flag is. */
export const helpLayout: HelpConfiguration = {
  padWidth(command, helper) {
    return Math.min(Help.prototype.padWidth.call(helper, command, helper), widestColumn);
  },
  formatItem(term, width, description, helper) {
    const item = (name: string) => Help.prototype.formatItem.call(helper, name, width, description, helper);
    return term.length <= width || !description ? item(term) : `  ${term}\n${item('')}`;
  },
};
