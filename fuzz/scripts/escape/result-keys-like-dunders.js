// expect: value {"__class__":"x","__init__":1}
({ __class__: 'x', __init__: 1 });
