"""What to do about a failure, by the class of its error.

The classes are those of `shadowzarr.errors`, and those by which the pipeline names the death of a
child process. A class that is not listed gets the advice for its kind: worth trying again, or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Remedy:
    """What a kind of failure means.

    Attributes
    ----------
    title : str
        The cause, in a few words.
    advice : str
        What to do, in a sentence or two.
    """

    title: str
    advice: str


_REMEDIES = {
    "UnknownFormatError": Remedy(
        "Of no format that is known",
        "The message says what the file is, as far as its first bytes tell. Exclude it in the config.",
    ),
    "NotHDF5Error": Remedy(
        "Not an HDF5 file",
        "The asset has the name of an HDF5 or NWB file and other content. Tell its owner; until then exclude "
        "it in the config.",
    ),
    "NotTIFFError": Remedy(
        "Not a TIFF file",
        "The file is of another kind than when it was looked at first. Run again.",
    ),
    "DamagedSourceError": Remedy(
        "Truncated or damaged file",
        "Compare the asset's size and checksum with its owner's copy and upload it again. The next run "
        "takes the new file by itself.",
    ),
    "SourceChangedError": Remedy(
        "The file changed during the run",
        "Run again: the asset was replaced while it was being read, and the next run indexes the new file.",
    ),
    "SourceNotFoundError": Remedy(
        "The file is not where the archive says",
        "The asset was deleted or its blob is missing. Run again; when it stays, report it to the archive.",
    ),
    "AccessDeniedError": Remedy(
        "Access denied",
        "Set the archive's API key in the environment variable that the config names, with rights to this"
        " dandiset. Embargoed assets also need a private output.",
    ),
    "MissingCredentialsError": Remedy(
        "No valid API key",
        "Set the archive's API key in the environment variable that the config names, and run again.",
    ),
    "ShortReadError": Remedy(
        "Fewer bytes than asked for",
        "The server broke off its answers. Run again; when it stays, the stored object is shorter than "
        "the archive says.",
    ),
    "TransientReadError": Remedy(
        "The server did not answer in time",
        "Run again later. When it happens often, lower run.concurrency in the config.",
    ),
    "ArchiveUnavailableError": Remedy(
        "The archive could not be reached",
        "Run again later; nothing that was finished is done twice.",
    ),
    "NotInArchiveError": Remedy(
        "Not in the archive",
        "The asset was removed after it was listed. The next run no longer lists it.",
    ),
    "UnsupportedError": Remedy(
        "Holds something that cannot be represented",
        'Set references.on_unsupported to "copy" or "skip", so that the rest of the file is indexed.',
    ),
    "RefusedPlaceError": Remedy(
        "Names a file or a host that it may not",
        "References that come from elsewhere lead to other places than those allowed. Find out who made "
        "them, or make them again from the source.",
    ),
    "UnsupportedNodesError": Remedy(
        "Has names that no ordinary store can have",
        "Read it by its references; a store with such names cannot be written.",
    ),
    "InvalidNWBError": Remedy(
        "The NWB file breaks NWB's rules",
        "Correct the metadata that the configuration names, or the recording, as the message says, and run "
        "again; what nwbinspector finds can be told instead of refused (validation.critical).",
    ),
    "InvalidReferencesError": Remedy(
        "The references cannot be read back",
        "This is a mistake of shadowzarr. Please report it with the id of the {noun} and the message.",
    ),
    "OutputError": Remedy(
        "The result could not be written",
        "Make room, or give the output folder the right permissions, and run again.",
    ),
    "OutputUnavailableError": Remedy(
        "The service of the output did not answer",
        "Run again later; what is published is whole.",
    ),
    "CommitConflictError": Remedy(
        "Others changed the repository meanwhile",
        "Run again later; nothing of this {noun} was committed.",
    ),
    "MissingDependencyError": Remedy(
        "A library is missing",
        "Install the extra that the message names, and run again.",
    ),
    "ChildCrashedError": Remedy(
        "The library that reads the file crashed",
        "Only this {noun} was affected. The file is probably damaged: check it (HDF5 with h5dump or "
        "h5debug), tell its owner, and exclude it in the config until it is replaced.",
    ),
    "ChildTimedOutError": Remedy(
        "Took longer than allowed",
        "Raise run.timeout in the config, or lower run.concurrency so that each {noun} gets more of the "
        "network.",
    ),
    "ChildOutOfMemoryError": Remedy(
        "Took more memory than allowed",
        "Raise run.memory_limit in the config, if the machine has the memory, and lower run.concurrency.",
    ),
    "ChildStartError": Remedy(
        "A process could not be started",
        "The machine may be out of memory or of processes: lower run.concurrency and run again. The file has "
        "nothing to do with it.",
    ),
    "PoolClosedError": Remedy(
        "The run was stopped",
        "Run again; nothing that was finished is done twice.",
    ),
    "ReferencesDifferError": Remedy(
        "The references differ from the file",
        "They were not published. This is a mistake of shadowzarr: please report it with the differences "
        "shown here.",
    ),
}
_TRANSIENT = Remedy("A passing failure", "Run again; nothing that was finished is done twice.")
_PERMANENT = Remedy(
    "Another error",
    "Read the message. When the file is sound by HDF5's own tools, please report the error with the "
    "id of the {noun}.",
)


_OF_RECORDINGS = {
    "DamagedSourceError": Remedy(
        "Truncated or damaged recording",
        "See whether NeuroConv itself reads it; copy it again from where it was recorded. The next run takes "
        "the new files by itself.",
    ),
    "SourceChangedError": Remedy(
        "A file changed during the run, or is another one at its URL",
        "Run again when the recording is complete; where url_for says that it is hosted, upload it first.",
    ),
    "SourceNotFoundError": Remedy(
        "A file is not there",
        "Mount the disk, or correct source_data; where url_for says that it is hosted, upload it first. Then "
        "run again.",
    ),
    "AccessDeniedError": Remedy(
        "Access denied",
        "Files at url_for are asked for without a key, as readers will ask: make them public, or set "
        "check_hosts: false. Files here must be readable to who runs this.",
    ),
}
"""What is otherwise for files that are no archive's."""


def remedy(kind: str, *, transient: bool, noun: str = "asset") -> Remedy:
    """Return what a failure means and what to do.

    Parameters
    ----------
    kind : str
        Name of the error's class.
    transient : bool
        Whether trying again may help.
    noun : str
        What failed: an asset, or a recording.
    """
    special = _OF_RECORDINGS if noun == "recording" else {}
    known = special.get(kind) or _REMEDIES.get(kind)
    if known is None:
        general = _TRANSIENT if transient else _PERMANENT
        known = Remedy(f"{general.title}: {kind}", general.advice)
    return replace(known, advice=known.advice.replace("{noun}", noun))
