/**
 * How the HTML report looks: light and dark as the reader's system is, one column on a phone.
 *
 * @module
 */

/** The style sheet. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f6f7f9; --card: #fff; --text: #1c2128; --quiet: #59636e; --line: #d8dee4; --code: #eef1f4;
  --bug: #c62828; --risk: #b35900; --nit: #7a6200; --good: #1a7f37; --link: #0757c2;
  --bug-soft: #fdecea; --risk-soft: #fff1e0; --nit-soft: #fdf6d8;
  --added: #e2f5e6; --removed: #fdeaea; --hit: #fff0b8; --head: #eaf1fb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0f1318; --card: #171c23; --text: #e3e8ee; --quiet: #97a3b0; --line: #2d3540; --code: #222932;
    --bug: #ff7b72; --risk: #ffa657; --nit: #e3c34d; --good: #56d364; --link: #79b8ff;
    --bug-soft: #2b1a1c; --risk-soft: #2a2117; --nit-soft: #272416;
    --added: #15301f; --removed: #3a1d20; --hit: #463c14; --head: #1a2533;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.4em 0 .5em; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin-top: 0; }
h2 { font-size: 1.2rem; margin-top: 2.2rem; }
h3 { font-size: 1rem; }
h4, h5, h6 { font-size: 1rem; }
p, ul, pre, blockquote { margin: .5em 0; }
p, li, td, th, code, blockquote { overflow-wrap: anywhere; }
a { color: var(--link); }
code, pre, .diff { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code { font-size: .9em; background: var(--code); padding: .1em .35em; border-radius: 4px; }
pre { background: var(--code); padding: .7em .9em; border-radius: 6px; white-space: pre-wrap; }
pre code { background: none; padding: 0; }
blockquote { border-left: 3px solid var(--line); margin-left: 0; padding-left: .9em; color: var(--quiet); }
ul { padding-left: 1.4em; }
li.depth1 { margin-left: 1.2em; } li.depth2 { margin-left: 2.4em; } li.depth3 { margin-left: 3.6em; }
li.more { list-style: none; }
.quiet { color: var(--quiet); }
.meta { color: var(--quiet); margin: .2rem 0; overflow-wrap: anywhere; }
.tally { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.tally li, .tag { border: 1px solid var(--line); border-radius: 1rem; background: var(--card); padding: .15rem .75rem; }
.tag { display: inline-block; font-size: .8rem; padding: 0 .55rem; color: var(--quiet); max-width: 100%; overflow-wrap: anywhere; }
.tally .bug, .tag.bug { color: var(--bug); border-color: currentColor; }
.tally .risk, .tag.risk { color: var(--risk); border-color: currentColor; }
.tally .nit, .tag.nit { color: var(--nit); border-color: currentColor; }
.tally .good { color: var(--good); border-color: currentColor; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; margin: .8rem 0; }
.warning { border-color: var(--bug); background: var(--bug-soft); }
.warning > :first-child { margin-top: 0; }
ol.list { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
ol.list li { padding: .6rem 1rem; border-top: 1px solid var(--line); }
ol.list li:first-child { border-top: 0; }
ol.list .where { display: block; font-size: .85rem; }
.finding { border-left: 4px solid var(--nit); background: var(--nit-soft); border-radius: 4px; padding: .55rem .8rem; margin: .35rem 0;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; white-space: normal; }
.finding.bug { border-color: var(--bug); background: var(--bug-soft); }
.finding.risk { border-color: var(--risk); background: var(--risk-soft); }
.finding.unsure { border-left-style: dashed; }
.finding > strong { display: inline; margin-right: .3em; }
.finding pre { background: var(--card); }
.finding:target { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; }
.plain { margin: .5em 0; }
.plain td, .plain th { border: 1px solid var(--line); padding: .3rem .5rem; text-align: left; vertical-align: top; }
.files { background: var(--card); border: 1px solid var(--line); border-radius: 8px; border-collapse: separate; border-spacing: 0; }
.files th, .files td { padding: .45rem .8rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
.files thead th { border-top: 0; font-size: .8rem; color: var(--quiet); font-weight: 600; }
.files td.number { white-space: nowrap; }
.plus { color: var(--good); } .minus { color: var(--bug); }
details.file { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .8rem 0; overflow: hidden; }
details.file > summary { padding: .55rem .9rem; cursor: pointer; overflow-wrap: anywhere; background: var(--head); }
details.file > .inside { padding: .2rem .9rem; }
summary .tag { margin-left: .4rem; background: var(--card); }
.diff { font-size: 13px; line-height: 1.5; tab-size: 4; }
.diff .row { display: grid; grid-template-columns: 3.6rem 3.6rem minmax(0, 1fr); }
.diff .old, .diff .new { text-align: right; color: var(--quiet); user-select: none; padding-right: .6rem; }
.diff .one { display: none; }
.diff .text { white-space: pre-wrap; overflow-wrap: anywhere; padding: 0 .6rem 0 1.5rem; text-indent: -1.1rem; }
.diff b { display: inline-block; width: 1.1rem; text-indent: 0; font-weight: 400; color: var(--quiet); user-select: none; }
.diff i { color: var(--quiet); }
.diff .hunk, .diff .gap { background: var(--head); color: var(--quiet); padding: .2rem .9rem; overflow-wrap: anywhere; }
.diff .addition { background: var(--added); } .diff .deletion { background: var(--removed); }
.diff .hit .text { background: var(--hit); }
.diff .remark { padding: .1rem .6rem; }
details.review > summary { cursor: pointer; font-weight: 600; }
footer { margin-top: 3rem; color: var(--quiet); font-size: .85rem; }
@media (max-width: 44rem) {
  main { padding: 1rem .7rem 3rem; }
  h1 { font-size: 1.35rem; }
  .files, .files tbody, .files tr, .files td { display: block; width: 100%; }
  .files thead { display: none; }
  .files tr { padding: .5rem .9rem; border-top: 1px solid var(--line); }
  .files tbody tr:first-child { border-top: 0; }
  .files td { border: 0; padding: .05rem 0; }
  .files td.extra { display: inline-block; width: auto; margin-right: .8rem; color: var(--quiet); }
  .diff { font-size: 12px; }
  .diff .row { grid-template-columns: 2.9rem minmax(0, 1fr); }
  .diff .old { display: none; }
  .diff .one { display: inline; }
  .diff .new { padding-right: .3rem; }
}
@media print {
  body { background: none; font-size: 12px; }
  details.file { break-inside: auto; }
}
`.trim();
